// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/mesh/own_network.h"

#include <gtest/gtest.h>

namespace rdma_exporter::probe {
namespace {

// SYNTHETIC, in the columns of fib_route_seq_show() (net/ipv4/fib_trie.c) and ipv6_route_seq_show()
// (net/ipv6/ip6_fib.c).
constexpr std::string_view kHead =
    "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n";
const std::string kRails =
    "rail1\t00000000\t0100020A\t0003\t0\t0\t200\t00000000\t0\t0\t0\n"
    "bond0\t00000000\t0101010A\t0003\t0\t0\t100\t00000000\t0\t0\t0\n"
    "bond0\t0001010A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n";
const std::string kZero(32, '0');
const std::string kIpv6 = kZero + " 00 " + kZero + " 00 " + kZero +
                          " ffffffff 00000001 00000000 00200200       lo\n" + kZero + " 00 " + kZero +
                          " 00 fe800000000000000000000000000001 00000400 00000001 00000000 "
                          "00000003     eth0\n";

TEST(DefaultRoute, IsTheOneWithTheLeastMetric) {
  EXPECT_EQ(default_route_interface(std::string(kHead) + kRails, kIpv6), "bond0");
}

TEST(DefaultRoute, MayBeOfIpv6Alone) {
  EXPECT_EQ(default_route_interface(kHead, kIpv6), "eth0") << "lo has the one that refuses everything";
}

TEST(DefaultRoute, IsNoneWithoutRoutesAndOfWhatIsNoTable) {
  EXPECT_EQ(default_route_interface("", ""), "");
  EXPECT_EQ(default_route_interface(kHead, ""), "");
  EXPECT_EQ(default_route_interface("x 00000000\n", "0 00\n"), "");
  EXPECT_EQ(default_route_interface("eth0 00000000 0 0 0 0 many 00000000\n", ""), "");
}

}  // namespace
}  // namespace rdma_exporter::probe
