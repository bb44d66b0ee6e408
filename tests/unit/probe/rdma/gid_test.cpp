// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/rdma/gid.h"

#include <gtest/gtest.h>

namespace rdma_exporter::probe {
namespace {

TEST(Gid, OfAnIpv4AddressIsMapped) {
  const auto gid = gid_of_address("10.9.0.1");
  ASSERT_TRUE(gid);
  EXPECT_TRUE(gid->ipv4());
  EXPECT_EQ(gid->bytes, (std::array<std::uint8_t, 16>{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 9, 0, 1}));
  EXPECT_EQ(address_text(*gid), "10.9.0.1");
}

TEST(Gid, OfAnIpv6AddressIsTheAddress) {
  const auto gid = gid_of_address("fd00::1:2");
  ASSERT_TRUE(gid);
  EXPECT_FALSE(gid->ipv4());
  EXPECT_FALSE(gid->link_local());
  EXPECT_EQ(address_text(*gid), "fd00::1:2");
  EXPECT_TRUE(gid_of_address("fe80::1")->link_local());
}

TEST(Gid, RefusesWhatIsNoAddress) {
  for (const char* text : {"", "10.9.0", "10.9.0.1:1", "fe80::1%eth0", "host", "10.9.0.256"})
    EXPECT_FALSE(gid_of_address(text)) << text;
}

TEST(Gid, HasAPrefixInCommonWithItsNeighbours) {
  const Gid a = *gid_of_address("10.9.0.1");
  EXPECT_EQ(common_prefix(a, a), 128U);
  EXPECT_EQ(common_prefix(a, *gid_of_address("10.9.0.2")), 96U + 30U);
  EXPECT_EQ(common_prefix(a, *gid_of_address("fd00::1")), 0U);
}

}  // namespace
}  // namespace rdma_exporter::probe
