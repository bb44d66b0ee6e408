// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/mesh/fleet.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace rdma_exporter::probe {
namespace {

using discovery::TargetGroup;
using discovery::TargetList;
using Names = std::set<std::string>;
using Edges = std::set<std::pair<std::string, std::string>>;

std::string no_device(const std::string& /*address*/) { return {}; }

asio::ip::tcp::endpoint endpoint(const std::string& address, std::uint16_t port) {
  return {asio::ip::make_address(address), port};
}

std::string host(std::size_t i) { return "gpu-" + std::to_string(i); }

TargetList hosts(std::size_t first, std::size_t count) {
  TargetList list(1);
  for (std::size_t i = first; i < first + count; ++i) list[0].targets.push_back({host(i), 9401});
  return list;
}

Names names(const std::vector<Target>& targets) {
  Names all;
  for (const Target& target : targets) all.insert(target.name);
  return all;
}

SelectOptions four_and_four() { return {}; }

// Who probes whom, as each host decides it by itself.
Edges edges(const TargetList& list, std::size_t count, std::uint64_t epoch) {
  Edges all;
  for (std::size_t i = 0; i < count; ++i) {
    const Fleet fleet(list, four_and_four(), 0, {host(i), {}, {}});
    for (const Target& target : fleet.choose(epoch, no_device)) all.emplace(host(i), target.address);
  }
  return all;
}

TEST(OwnHost, IsFoundByNameWithOrWithoutDomain) {
  const OwnHost own{"gpu-1", {"10.0.0.1"}, {}};
  EXPECT_TRUE(own.is({"gpu-1", 9401}));
  EXPECT_TRUE(own.is({"gpu-1.pod.example", 9401}));
  EXPECT_FALSE(own.is({"gpu-17", 9401}));
  EXPECT_TRUE((OwnHost{"gpu-1.pod.example", {}, {}}).is({"gpu-1", 9401}));
  EXPECT_TRUE(own.is({"10.0.0.1", 9401}));
  EXPECT_FALSE(own.is({"10.0.0.11", 9401}));
}

TEST(OwnHost, IsThisDaemonAndNoOtherOneOfTheHost) {
  const OwnHost any{"gpu-1", {"10.0.0.1"}, {endpoint("::", 9401)}};
  EXPECT_TRUE(any.is({"10.0.0.1", 9401}));
  EXPECT_FALSE(any.is({"10.0.0.1", 9402}));
  EXPECT_FALSE(any.is({"gpu-1", 9402}));
  const OwnHost one{"gpu-1", {"10.0.0.1", "10.0.0.2"}, {endpoint("10.0.0.1", 9401)}};
  EXPECT_TRUE(one.is({"10.0.0.1", 9401}));
  EXPECT_FALSE(one.is({"10.0.0.2", 9401})) << "where another one listens";
}

TEST(OwnHost, KnowsItsAddressHoweverItIsWritten) {
  const OwnHost own{"gpu-1", {"2001:db8::1"}, {}};
  EXPECT_TRUE(own.is({"2001:DB8:0::1", 9401}));
}

TEST(Fleet, HasTargetsWithWhatTheirLabelsSay) {
  TargetList list{{{{"a", 0}},
                   {{"group", "pod1"},
                    {"device", "mlx5_1"},
                    {"name", "alpha"},
                    {"job", "x"},
                    {"leaf", "l7"},
                    {"rail", "r1"}}},
                  {{{"self", 0}}, {{"rail", "r1"}}}};
  const auto targets = Fleet(list, four_and_four(), 0, {"self", {}, {}}).choose(0, no_device);
  ASSERT_EQ(targets.size(), 1U);
  EXPECT_EQ(targets[0], (Target{.name = "alpha",
                                .address = "a",
                                .port = 9401,
                                .group = "pod1",
                                .device = "mlx5_1",
                                .leaf = "l7",
                                .rail = "r1"}));
}

TEST(Fleet, TakesThePortOfTheListUnlessToldAnother) {
  TargetList list{{{{"a", 9400}}, {}}};
  EXPECT_EQ(Fleet(list, four_and_four(), 0, {}).choose(0, no_device)[0].port, 9400);
  EXPECT_EQ(Fleet(list, four_and_four(), 9401, {}).choose(0, no_device)[0].port, 9401);
}

TEST(Fleet, NamesNoTwoTargetsAlike) {
  TargetList list{{{{"a", 1}, {"a", 2}, {"b", 1}}, {}}, {{{"c", 1}, {"d", 1}}, {{"name", "same"}}}};
  EXPECT_EQ(names(Fleet(list, four_and_four(), 0, {}).choose(0, no_device)),
            (Names{"a:1", "a:2", "b", "c:1", "d:1"}));
}

TEST(Fleet, CountsAPeerOnceWhereverItWasFound) {
  TargetList list{{{{"a", 9401}, {"b", 9401}}, {}}, {{{"a", 0}}, {{"group", "late"}}}};
  EXPECT_EQ(Fleet(list, four_and_four(), 0, {}).choose(0, no_device).size(), 2U);
}

TEST(Fleet, OfAListWithoutThisHostIsProbedFromOutside) {
  const auto targets = Fleet(hosts(0, 100), four_and_four(), 0, {"monitor", {}, {}}).choose(5, no_device);
  EXPECT_GE(targets.size(), 4U);
}

TEST(Fleet, PutsThoseFirstThatStay) {
  const auto targets = Fleet(hosts(0, 100), four_and_four(), 0, {host(3), {}, {}}).choose(5, no_device);
  EXPECT_TRUE(
      std::is_partitioned(targets.begin(), targets.end(), [](const Target& t) { return !t.rotating; }));
  EXPECT_EQ(std::count_if(targets.begin(), targets.end(), [](const Target& t) { return !t.rotating; }), 4);
  EXPECT_GT(targets.size(), 4U);
}

TEST(Fleet, HasNoOtherAddressOfThisHost) {
  const TargetList list{{{{"10.0.0.1", 9401}, {"10.0.0.2", 9401}, {"10.0.0.3", 9401}}, {}}};
  const OwnHost own{"x", {"10.0.0.1", "10.0.0.2"}, {}};
  const auto device = [](const std::string& address) { return "mlx5_" + address.substr(7); };
  EXPECT_EQ(names(Fleet(list, four_and_four(), 0, own).choose(0, device)), Names{"10.0.0.3"});
}

// Two rails, each host with an address on either.
TargetList two_rails(std::size_t count) {
  TargetList list{{{}, {{"rail", "r0"}}}, {{}, {{"rail", "r1"}}}};
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t rail = 0; rail < 2; ++rail)
      list[rail].targets.push_back({"10." + std::to_string(rail) + ".0." + std::to_string(i), 9401});
  return list;
}

std::string device_of(const std::string& address) {
  return address == "10.0.0.1" ? "mlx5_0" : address == "10.1.0.1" ? "mlx5_1" : "";
}

TEST(Fleet, KeepsEachDeviceToItsRail) {
  const OwnHost own{"x", {"10.0.0.1", "10.1.0.1"}, {}};
  const auto targets = Fleet(two_rails(20), four_and_four(), 0, own).choose(3, device_of);
  EXPECT_GE(targets.size(), 8U);
  for (const Target& target : targets)
    EXPECT_EQ(target.from, target.address.starts_with("10.0.") ? "mlx5_0" : "mlx5_1") << target.address;
}

TEST(Fleet, CrossesRailsWhereItIsToldTo) {
  SelectOptions options;
  options.scopes = {Scope::same, Scope::other};
  const OwnHost own{"x", {"10.0.0.1", "10.1.0.1"}, {}};
  const auto targets = Fleet(two_rails(200), options, 0, own).choose(3, device_of);
  std::size_t crossing = 0;
  for (const Target& target : targets)
    crossing += target.address.starts_with("10.0.") != (target.from == "mlx5_0");
  EXPECT_GE(crossing, 7U) << "but not to this host itself";
  for (const Target& target : targets) EXPECT_FALSE(own.is({target.address, target.port}));
}

TEST(Fleet, WaitsWithARailUntilItsDeviceIsThere) {
  const OwnHost own{"x", {"10.0.0.1", "10.1.0.1"}, {}};
  const auto only_first = [](const std::string& address) {
    return std::string(address == "10.0.0.1" ? "mlx5_0" : "");
  };
  for (const Target& target : Fleet(two_rails(20), four_and_four(), 0, own).choose(3, only_first))
    EXPECT_EQ(target.from, "mlx5_0");
}

TEST(Fleet, OfOneEntryWithoutDeviceIsForAllDevices) {
  for (const Target& target : Fleet(hosts(0, 20), four_and_four(), 0, {host(3), {}, {}}).choose(0, no_device))
    EXPECT_EQ(target.from, "");
}

// Two rails, each with leaves of 16 hosts; each host with an address on either rail.
TargetList leaves(std::size_t count) {
  TargetList list;
  for (std::size_t rail = 0; rail < 2; ++rail)
    for (std::size_t i = 0; i < count; ++i)
      list.push_back({{{"10." + std::to_string(rail) + ".0." + std::to_string(i), 9401}},
                      {{"rail", "r" + std::to_string(rail)}, {"leaf", "su" + std::to_string(i / 16)}}});
  return list;
}

SelectOptions mesh() {
  SelectOptions options;
  options.mesh = true;
  return options;
}

std::size_t number_of(const Target& target) { return std::stoul(target.address.substr(7)); }

TEST(MeshOfLeaves, IsARingInTheLeafAndGoesRoundTheOthers) {
  const OwnHost own{"x", {"10.0.0.1", "10.1.0.1"}, {}};
  const Fleet fleet(leaves(128), mesh(), 0, own);
  std::size_t turning = 0;
  for (std::uint64_t epoch = 0; epoch < 8; ++epoch) {
    std::map<std::string, unsigned> near;
    std::map<std::string, unsigned> far;
    for (const Target& target : fleet.choose(epoch, device_of)) {
      EXPECT_EQ(target.from, target.address.starts_with("10.0.") ? "mlx5_0" : "mlx5_1") << "another rail";
      const bool same_leaf = number_of(target) < 16;
      if (!target.rotating) ++(same_leaf ? near : far)[target.from];
      if (!target.rotating) continue;
      EXPECT_FALSE(same_leaf) << target.address;
      ++turning;
    }
    EXPECT_EQ(near, (std::map<std::string, unsigned>{{"mlx5_0", 4}, {"mlx5_1", 4}}));
    EXPECT_EQ(far, (std::map<std::string, unsigned>{{"mlx5_0", 1}, {"mlx5_1", 1}}));
  }
  EXPECT_GE(turning, 32U) << "some 4 for each of two rails in each of 8 epochs";
}

TEST(MeshWithoutLeaves, IsOneRingThatTurns) {
  const auto targets = Fleet(hosts(0, 100), mesh(), 0, {host(3), {}, {}}).choose(5, no_device);
  EXPECT_EQ(std::count_if(targets.begin(), targets.end(), [](const Target& t) { return !t.rotating; }), 4);
  EXPECT_GT(targets.size(), 4U);
}

TEST(MeshWithoutThisHost, ProbesNobody) {
  const Fleet fleet(hosts(0, 100), mesh(), 0, {"gpu-3.other-name", {}, {}});
  EXPECT_TRUE(fleet.has_self()) << "with a domain";
  const Fleet other(hosts(0, 100), mesh(), 0, {"login-1", {"192.0.2.9"}, {}});
  EXPECT_FALSE(other.has_self());
  EXPECT_TRUE(other.choose(5, no_device).empty()) << "it might probe itself under another name";
}

// What a host probes is bounded whatever the mesh, and so are its series: 8,192 hosts, one rail.
TEST(MeshOf8192, KeepsToItsLimits) {
  TargetList list;
  for (std::size_t i = 0; i < 8192; ++i)
    list.push_back({{{host(i), 9401}}, {{"leaf", "su" + std::to_string(i / 32)}}});
  const Fleet fleet(list, mesh(), 0, {host(7), {}, {}});
  for (std::uint64_t epoch = 1000; epoch < 1016; ++epoch) {
    const auto targets = fleet.choose(epoch, no_device);
    EXPECT_EQ(std::count_if(targets.begin(), targets.end(), [](const Target& t) { return !t.rotating; }), 5);
    EXPECT_LE(targets.size(), 5U + 16U);
  }
}

TEST(FleetOf512, ProbesEachHostFromFourOthersAndSomeThatRotate) {
  const TargetList list = hosts(0, 512);
  std::map<std::string, unsigned> probed;
  for (const auto& [from, to] : edges(list, 512, 5'900'000)) ++probed[to];
  EXPECT_EQ(probed.size(), 512U);
  for (const auto& [name, count] : probed) {
    ASSERT_GE(count, 4U) << name;
    ASSERT_LE(count, 4U + 16U) << name;
  }
}

TEST(FleetOf512, MovesAFewEdgesWhenAHostJoinsOrLeaves) {
  SelectOptions ring;
  ring.rotate = 0;
  const auto choices = [&](std::size_t count) {
    Edges all;
    for (std::size_t i = 0; i < count; ++i)
      for (const Target& target : Fleet(hosts(0, count), ring, 0, {host(i), {}, {}}).choose(0, no_device))
        all.emplace(host(i), target.address);
    return all;
  };
  const Edges before = choices(511);
  const Edges after = choices(512);
  Edges kept;
  std::set_intersection(before.begin(), before.end(), after.begin(), after.end(),
                        std::inserter(kept, kept.end()));
  EXPECT_EQ(before.size() - kept.size(), 4U);
  EXPECT_EQ(after.size() - kept.size(), 8U);
}

TEST(FleetOf8192, IsCoveredByEachHostAndProbesItEvenly) {
  const TargetList list = hosts(0, 8192);
  const Fleet fleet(list, four_and_four(), 0, {host(7), {}, {}});
  Names seen;
  const std::uint64_t promised = Selection::epochs_to_cover(8187, 4);
  EXPECT_EQ(promised, 4096U);
  for (std::uint64_t epoch = 1000; epoch < 1000 + promised; ++epoch)
    seen.merge(names(fleet.choose(epoch, no_device)));
  EXPECT_EQ(seen.size(), 8191U);
}

}  // namespace
}  // namespace rdma_exporter::probe
