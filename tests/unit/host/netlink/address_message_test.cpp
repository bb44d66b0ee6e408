// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/netlink/address_message.h"

#include <gtest/gtest.h>
#include <linux/if_addr.h>

#include <algorithm>

#include "tests/unit/support/recorded_netlink.h"

namespace rdma_exporter::host {
namespace {

using test::Message;
using test::recorded_file;

InterfaceAddress parsed(Bytes payload) {
  const auto address = parse_address(payload);
  EXPECT_TRUE(address && *address);
  return address && *address ? **address : InterfaceAddress{};
}

TEST(ParseAddress, OfIpv4IsAMappedGid) {
  const InterfaceAddress address = parsed(recorded_file("address/ipv4.bin"));
  EXPECT_EQ(address.interface, 2U);
  EXPECT_EQ(address.text, "10.8.0.1");
  EXPECT_EQ(address.gid, "0000:0000:0000:0000:0000:ffff:0a08:0001");
  EXPECT_FALSE(address.link_local);
}

TEST(ParseAddress, OfIpv6IsTheGid) {
  const InterfaceAddress address = parsed(recorded_file("address/ipv6_link_local.bin"));
  EXPECT_EQ(address.text, "fe80::15:b3ff:fe00:0");
  EXPECT_EQ(address.gid, "fe80:0000:0000:0000:0015:b3ff:fe00:0000");
  EXPECT_TRUE(address.link_local);
}

TEST(ParseAddress, LeavesOutWhatIsNotUsable) {
  Message bytes = recorded_file("address/ipv6_link_local.bin");
  const Message header{std::byte{8}, std::byte{0}, std::byte{IFA_FLAGS}, std::byte{0}};
  const auto flags = std::search(bytes.begin(), bytes.end(), header.begin(), header.end());
  ASSERT_NE(flags, bytes.end());
  flags[4] = std::byte{IFA_F_TENTATIVE};
  EXPECT_EQ(parse_address(bytes).value(), std::nullopt);
  flags[4] = std::byte{IFA_F_DADFAILED};  // another host has it
  EXPECT_EQ(parse_address(bytes).value(), std::nullopt);
  bytes[0] = std::byte{28};  // AF_MPLS
  EXPECT_EQ(parse_address(bytes).value(), std::nullopt);
}

// On a link to one peer IFA_ADDRESS is the peer's.
TEST(ParseAddress, IsTheOwnOneOnALinkToAPeer) {
  Message bytes = recorded_file("address/ipv4.bin");
  const auto own = parse_address(bytes).value();
  const Message header{std::byte{8}, std::byte{0}, std::byte{IFA_ADDRESS}, std::byte{0}};
  const auto address = std::search(bytes.begin(), bytes.end(), header.begin(), header.end());
  ASSERT_NE(address, bytes.end());
  address[7] = std::byte{99};
  const auto found = parse_address(bytes).value();
  ASSERT_TRUE(own && found);
  EXPECT_EQ(found->text, own->text);
  EXPECT_EQ(found->gid, own->gid);
}

TEST(ParseAddress, RefusesWhatIsCutOff) {
  const Message bytes = recorded_file("address/ipv4.bin");
  EXPECT_FALSE(parse_address({}).has_value());
  EXPECT_FALSE(parse_address(Bytes(bytes).first(8)).has_value()) << "no address";
  EXPECT_FALSE(parse_address(Bytes(bytes).first(bytes.size() - 2)).has_value());
}

TEST(WithAddresses, ChangesThemAndNothingElse) {
  const Message bytes = recorded_file("address/ipv4.bin");
  std::size_t changed = 0;
  const Message other = with_addresses(bytes, [&](std::span<std::byte> address) {
    ASSERT_EQ(address.size(), 4U);
    EXPECT_EQ(address[0], std::byte{10});
    address[3] = std::byte{99};
    ++changed;
  });
  EXPECT_GE(changed, 2U) << "the address, and the local one";
  EXPECT_EQ(other.size(), bytes.size());
  EXPECT_EQ(parsed(other).text, "10.8.0.99");
  EXPECT_EQ(parsed(other).interface, 2U);
  EXPECT_EQ(with_addresses(bytes, [](std::span<std::byte>) {}), bytes);
  EXPECT_EQ(with_addresses(Bytes(bytes).first(3), [](std::span<std::byte>) {}).size(), 3U);
}

TEST(AddressesRequest, AsksForAllFamilies) { EXPECT_EQ(addresses_request(), Message(sizeof(ifaddrmsg))); }

}  // namespace
}  // namespace rdma_exporter::host
