// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/rdma/gid_choice.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <vector>

namespace rdma_exporter::probe {
namespace {

GidEntry entry(const char* address, std::uint32_t index, std::uint32_t netdev = 2, bool usable = true) {
  return {*gid_of_address(address), index, usable, netdev};
}

// The table of a port with a VLAN: RoCE v1 and v2 of each address, the link-local one in front.
const std::vector<GidEntry> kTable{
    entry("fe80::1", 0, 2, false), entry("fe80::1", 1),      entry("10.9.0.1", 2, 2, false),
    entry("10.9.0.1", 3),          entry("10.20.0.1", 5, 7), entry("fd00::1", 7),
};

std::uint32_t chosen(const GidWish& wish, const std::vector<GidEntry>& table = kTable) {
  return choose_gid(table, LinkLayer::ethernet, wish).value().index;
}

GidWish wish() { return {}; }

TEST(GidChoice, TakesRoceV2AndNeitherV1NorALinkLocalAddress) { EXPECT_EQ(chosen(wish()), 3U); }

TEST(GidChoice, TakesTheWrittenAddressWhereverItHasMovedTo) {
  GidWish exact;
  exact.exact = *gid_of_address("fd00::1");
  EXPECT_EQ(chosen(exact), 7U);
  auto moved = kTable;
  moved.back().index = 4;
  EXPECT_EQ(chosen(exact, moved), 4U);
}

TEST(GidChoice, FailsWithoutTheWrittenAddress) {
  GidWish exact;
  exact.exact = *gid_of_address("10.9.0.7");
  const auto none = choose_gid(kTable, LinkLayer::ethernet, exact);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().os_errno, ENOENT) << "and not another address of the port";
}

TEST(GidChoice, KeepsToTheInterface) {
  GidWish vlan;
  vlan.netdev = 7;
  EXPECT_EQ(chosen(vlan), 5U);
  vlan.netdev = 99;
  EXPECT_FALSE(choose_gid(kTable, LinkLayer::ethernet, vlan));
}

TEST(GidChoice, IsOfThePeersFamilyAndNetwork) {
  GidWish peer;
  peer.peer = *gid_of_address("10.20.0.9");
  EXPECT_EQ(chosen(peer), 5U);
  peer.peer = *gid_of_address("fd00::99");
  EXPECT_EQ(chosen(peer), 7U);
}

TEST(GidChoice, IsTheAddressOfTheSideChannelWhereThePortHasIt) {
  GidWish control;
  control.near_control = *gid_of_address("10.20.0.1");
  EXPECT_EQ(chosen(control), 5U);
  control.near_control = *gid_of_address("192.168.0.1");  // a management network
  EXPECT_EQ(chosen(control), 3U);
}

TEST(GidChoice, IsInThePeersVlanIfThePeerCallsFromAnother) {
  GidWish vlan;
  vlan.near_control = *gid_of_address("10.9.0.1");
  vlan.far_control = *gid_of_address("10.9.0.9");
  vlan.peer = *gid_of_address("10.20.0.9");
  EXPECT_EQ(chosen(vlan), 5U);
  vlan.peer = vlan.far_control = *gid_of_address("10.20.3.9");
  EXPECT_EQ(chosen(vlan), 3U) << "the control connection proves that the two reach each other";
}

TEST(GidChoice, IsInTheNetworkThatWasCalledWhileThePeerIsNotKnown) {
  GidWish called;
  called.toward = *gid_of_address("10.20.0.9");
  EXPECT_EQ(chosen(called), 5U) << "its VLAN";
  called.near_control = *gid_of_address("192.168.0.1");
  EXPECT_EQ(chosen(called), 5U) << "through a router";
  called.peer = *gid_of_address("10.9.0.9");
  EXPECT_EQ(chosen(called), 3U) << "the peer knows better where it is";
}

TEST(GidChoice, IsOfThePeersFamilyBeforeItIsTheSideChannels) {
  GidWish both;
  both.near_control = *gid_of_address("10.9.0.1");
  both.peer = *gid_of_address("fd00::99");
  EXPECT_EQ(chosen(both), 7U) << "an IPv4 address does not reach it";
  both.near_control = *gid_of_address("fd00::1");
  both.peer = *gid_of_address("10.20.0.9");
  EXPECT_EQ(chosen(both), 5U);
}

TEST(GidChoice, OfInfinibandIsTheFirst) {
  const std::vector<GidEntry> table{entry("fe80::2:c903:0:1", 0, 0)};
  EXPECT_EQ(choose_gid(table, LinkLayer::infiniband, {}).value().index, 0U);
}

}  // namespace
}  // namespace rdma_exporter::probe
