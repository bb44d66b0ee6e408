// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/mesh/hostmesh.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

namespace rdma_exporter::probe {
namespace {

OwnPort own_port(const std::string& device, std::initializer_list<const char*> addresses,
                 LinkLayer link = LinkLayer::ethernet) {
  OwnPort port{device, 1, link, {}};
  for (const char* address : addresses) port.gids.push_back(gid_of_address(address).value());
  return port;
}

using Edge = std::tuple<std::string, std::string, std::string>;  // from, to, address of the near end

std::set<Edge> edges(const std::vector<OwnPort>& ports) {
  std::set<Edge> all;
  for (const Target& target : hostmesh_targets(ports, 1234)) {
    EXPECT_EQ(target.name, target.device);
    EXPECT_EQ(target.port, 1234);
    all.emplace(target.from, target.device, target.source);
  }
  return all;
}

TEST(Hostmesh, ConnectsEachDeviceWithEachOther) {
  EXPECT_EQ(edges({own_port("a", {"fe80::1", "10.0.0.1"}), own_port("b", {"10.1.0.1"}),
                   own_port("c", {"10.2.0.1"})})
                .size(),
            6U);
  EXPECT_EQ(edges({own_port("a", {"10.0.0.1"}), own_port("b", {"10.1.0.1"})}),
            (std::set<Edge>{{"a", "b", "10.0.0.1"}, {"b", "a", "10.1.0.1"}}));
}

TEST(Hostmesh, NeedsAScopeInCommon) {
  EXPECT_TRUE(edges({own_port("a", {"10.0.0.1"}), own_port("b", {"2001:db8::1"})}).empty());
  EXPECT_TRUE(edges({own_port("a", {"fe80::1"}), own_port("b", {"fe80::2"})}).empty())
      << "each interface its own";
  EXPECT_TRUE(edges({own_port("a", {"10.0.0.1"})}).empty());
  EXPECT_TRUE(
      edges({own_port("a", {"fe80::1"}, LinkLayer::infiniband), own_port("b", {"10.0.0.1"})}).empty());
}

TEST(Hostmesh, PrefersIPv4WhereThereAreBoth) {
  const auto found =
      edges({own_port("a", {"2001:db8::1", "10.0.0.1"}), own_port("b", {"2001:db8::2", "10.0.0.2"})});
  EXPECT_TRUE(found.contains({"a", "b", "10.0.0.1"}));
}

TEST(Hostmesh, OfInfiniBandGoesBySubnet) {
  EXPECT_EQ(edges({own_port("a", {"fe80::1"}, LinkLayer::infiniband),
                   own_port("b", {"fe80::2"}, LinkLayer::infiniband)})
                .size(),
            2U);
  EXPECT_TRUE(edges({own_port("a", {"fe80::1"}, LinkLayer::infiniband),
                     own_port("b", {"fec0::2"}, LinkLayer::infiniband)})
                  .empty());
}

TEST(Hostmesh, KeepsRoceAndIwarpApart) {
  EXPECT_EQ(
      edges({own_port("a", {"10.0.0.1"}), own_port("b", {"10.0.0.2"}),
             own_port("c", {"10.0.0.3"}, LinkLayer::iwarp), own_port("d", {"10.0.0.4"}, LinkLayer::iwarp)}),
      (std::set<Edge>{
          {"a", "b", "10.0.0.1"}, {"b", "a", "10.0.0.2"}, {"c", "d", "10.0.0.3"}, {"d", "c", "10.0.0.4"}}));
}

TEST(OwnPorts, AreKeptWhenTheyGoDownOrLoseTheirAddress) {
  std::vector<OwnPort> known;
  EXPECT_TRUE(remember(known, {own_port("a", {"10.0.0.1"})}));
  EXPECT_FALSE(remember(known, {own_port("a", {"10.0.0.1"})}));
  EXPECT_FALSE(remember(known, {})) << "not active";
  EXPECT_FALSE(remember(known, {own_port("a", {"fe80::1"})})) << "without an address";
  EXPECT_EQ(known, std::vector{own_port("a", {"10.0.0.1"})});
  EXPECT_TRUE(remember(known, {own_port("a", {"10.0.0.9"})}));
  EXPECT_EQ(known, std::vector{own_port("a", {"10.0.0.9"})});
}

}  // namespace
}  // namespace rdma_exporter::probe
