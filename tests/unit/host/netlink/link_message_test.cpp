// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/netlink/link_message.h"

#include <string>
#include <vector>

#include "tests/unit/host/recorded_events.h"

namespace rdma_exporter::host {
namespace {

using test::recorded_event;
using Names = std::vector<std::string>;

core::Result<Names> links(Bytes datagram) {
  Names names;
  const auto parsed = parse_links(datagram, [&](std::string_view name) { names.emplace_back(name); });
  if (!parsed) return tl::unexpected(parsed.error());
  return names;
}

TEST(ParseLinks, NamesTheInterfaceThatChangedOrWent) {
  EXPECT_EQ(links(recorded_event("link_mtu")).value(), Names{"dum0"});
  EXPECT_EQ(links(recorded_event("link_removed")).value(), Names{"br0"});
}

TEST(ParseLinks, PassesOverTheMessagesOfABridge) {
  EXPECT_EQ(links(recorded_event("link_bridge_port")).value(), Names{});
}

TEST(ParseLinks, ReadsAllMessagesOfADatagram) {
  auto bytes = recorded_event("link_mtu");
  ASSERT_EQ(bytes.size() % 4, 0U);
  const auto more = recorded_event("link_removed");
  bytes.insert(bytes.end(), more.begin(), more.end());
  EXPECT_EQ(links(bytes).value(), (Names{"dum0", "br0"}));
}

TEST(ParseLinks, PassesOverMessagesOfOtherTypes) {
  auto bytes = recorded_event("link_mtu");
  bytes[4] = std::byte{24};  // RTM_NEWROUTE
  EXPECT_EQ(links(bytes).value(), Names{});
}

TEST(ParseLinks, RefusesLengthsThatAreNotTheMessages) {
  for (const unsigned length : {0U, 15U, 20U, 0xffffU}) {
    auto bytes = recorded_event("link_mtu");
    bytes[0] = static_cast<std::byte>(length & 0xffU);
    bytes[1] = static_cast<std::byte>(length >> 8U);
    EXPECT_FALSE(links(bytes).has_value()) << length;
  }
}

TEST(ParseLinks, RefusesEveryTruncation) {
  const auto bytes = recorded_event("link_mtu");
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    const std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(links(cut).has_value()) << size;
  }
}

TEST(ParseLinks, RefusesAMessageWithoutAName) {
  auto bytes = recorded_event("link_mtu");
  ASSERT_EQ(bytes[16 + 16 + 2], std::byte{3});  // the first attribute is IFLA_IFNAME
  bytes[16 + 16 + 2] = std::byte{200};
  EXPECT_FALSE(links(bytes).has_value());
}

}  // namespace
}  // namespace rdma_exporter::host
