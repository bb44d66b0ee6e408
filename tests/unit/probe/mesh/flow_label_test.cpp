// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/mesh/flow_label.h"

#include <gtest/gtest.h>

#include <set>

#include "probe/mesh/stable_hash.h"

namespace rdma_exporter::probe {
namespace {

TEST(FlowLabel, GivesTheSourcePortThatWasSeenOnTheWire) {
  // Sniffed from Soft-RoCE of Linux 6.1.
  EXPECT_EQ(udp_source_port(0x1234), 53812);
  EXPECT_EQ(udp_source_port(0x77), 49271);
}

TEST(FlowLabel, FoldsItsUpperBitsIntoThePort) {
  EXPECT_EQ(udp_source_port(0x00000), 0xc000);
  EXPECT_EQ(udp_source_port(0x04000), 0xc001);
  EXPECT_EQ(udp_source_port(0xfffff), 0xc000 | (0x3fff ^ 0x3f));
}

TEST(FlowLabel, OfASessionStaysAndDiffersBetweenFlowsAndDirections) {
  const Gid a = *gid_of_address("10.9.0.1");
  const Gid b = *gid_of_address("10.9.0.2");
  EXPECT_EQ(flow_label(a, b, 0), flow_label(a, b, 0));
  EXPECT_NE(flow_label(a, b, 0), flow_label(b, a, 0));
  std::set<std::uint16_t> ports;
  for (unsigned flow = 0; flow < 64; ++flow) {
    const std::uint32_t label = flow_label(a, b, flow);
    EXPECT_GT(label, 0U);
    EXPECT_LE(label, 0xfffffU);
    ports.insert(udp_source_port(label));
  }
  EXPECT_GE(ports.size(), 62U) << "64 flows want 64 paths";
}

TEST(StableHash, IsTheSameInEveryVersion) {
  // Hosts of different versions have to agree on the order of the ring.
  EXPECT_EQ(stable_hash(""), 0xefd01f60ba992926ULL);
  EXPECT_EQ(stable_hash("gpu-17:9401"), stable_hash("gpu-17:9401"));
  EXPECT_NE(stable_hash("gpu-17:9401"), stable_hash("gpu-18:9401"));
}

}  // namespace
}  // namespace rdma_exporter::probe
