// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/events/event_messages.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/host/recorded_events.h"

namespace rdma_exporter::host {
namespace {

using test::recorded_event;

Bytes bytes_of(const std::string& text) { return std::as_bytes(std::span(text.data(), text.size())); }

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The recording with one text replaced by another.
std::string with(const std::string& name, const std::string& from, const std::string& to) {
  std::string text = text_of(recorded_event(name));
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(ParseUevent, ReadsWhatHappenedToWhom) {
  const auto bytes = recorded_event("uevent_add");
  const auto event = parse_uevent(bytes);
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->action, "add");
  EXPECT_EQ(event->subsystem, "infiniband");
  EXPECT_EQ(event->device_path, "/devices/virtual/infiniband/rxe_dummy");
  EXPECT_EQ(event->name(), "rxe_dummy");
}

TEST(ParseUevent, ReadsTheNewNameOfARenamedDevice) {
  const auto bytes = recorded_event("uevent_move");
  const auto event = parse_uevent(bytes);
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->action, "move");
  EXPECT_EQ(event->name(), "renamed");
}

TEST(ParseUevent, ReadsTheVerbsDeviceThatGoes) {
  const auto bytes = recorded_event("uevent_verbs_remove");
  const auto event = parse_uevent(bytes);
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->action, "remove");
  EXPECT_EQ(event->subsystem, "infiniband_verbs");
  EXPECT_TRUE(event->name().starts_with("uverbs"));
}

TEST(ParseUevent, RefusesWhatUdevdSends) {
  std::string text = text_of(recorded_event("uevent_add"));
  EXPECT_FALSE(parse_uevent(bytes_of(std::string("libudev\0", 8) + text)).has_value());
}

TEST(ParseUevent, RefusesAHeadThatItsKeysContradict) {
  EXPECT_FALSE(parse_uevent(bytes_of(with("uevent_add", "add@", "remove@"))).has_value());
  EXPECT_FALSE(parse_uevent(bytes_of(with("uevent_add", "DEVPATH=/devices", "DEVPATH=/other"))).has_value());
}

TEST(ParseUevent, RefusesTextsThatAreNoKeys) {
  EXPECT_FALSE(parse_uevent(bytes_of(with("uevent_add", "SEQNUM=", "SEQNUM:"))).has_value());
  EXPECT_FALSE(parse_uevent(bytes_of(with("uevent_add", "SUBSYSTEM=", "SYSTEM="))).has_value());
  EXPECT_FALSE(parse_uevent(bytes_of(with("uevent_add", "add@", "@"))).has_value());
  EXPECT_FALSE(parse_uevent(bytes_of(with("uevent_add", "add@", "add"))).has_value());
}

TEST(ParseUevent, RefusesMoreThanTheKernelSends) {
  const std::string text = text_of(recorded_event("uevent_add"));
  std::string padded = text + "X=" + std::string(4096 - text.size() - 3, 'x') + '\0';
  ASSERT_EQ(padded.size(), 4096U);
  EXPECT_TRUE(parse_uevent(bytes_of(padded)).has_value());
  padded = text + "X=" + std::string(4096 - text.size() - 2, 'x') + '\0';
  EXPECT_FALSE(parse_uevent(bytes_of(padded)).has_value());
}

TEST(ParseUevent, RefusesOneThatIsCutInsideAText) {
  const auto bytes = recorded_event("uevent_verbs_remove");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const bool at_the_end_of_a_text = size > 0 && bytes[size - 1] == std::byte{0};
    if (at_the_end_of_a_text) continue;
    EXPECT_FALSE(parse_uevent(Bytes(bytes).first(size)).has_value()) << size;
  }
}

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

using test::recorded_event;

class EventMessagesTest : public ::testing::Test {
 protected:
  std::uint64_t received(EventSource source) const { return counts_.source(source).received; }
  std::uint64_t lost(EventSource source) const { return counts_.source(source).lost; }

  Changes changes_;
  EventCounts counts_;
  const EventSink sink_{changes_, counts_};
};

TEST_F(EventMessagesTest, ADeviceThatComesIsAReasonToLookAtEverything) {
  for (const char* message : {"uevent_add", "uevent_remove", "uevent_move"}) {
    const auto before = changes_.all();
    EXPECT_EQ(on_uevent(recorded_event(message), sink_), "") << message;
    EXPECT_GT(changes_.all(), before) << message;
  }
  EXPECT_EQ(received(EventSource::uevent), 3U);
}

TEST_F(EventMessagesTest, OtherSubsystemsAreNot) {
  EXPECT_EQ(on_uevent(recorded_event("uevent_net_add"), sink_), "");
  EXPECT_EQ(changes_.all(), 0U);
  EXPECT_EQ(received(EventSource::uevent), 0U);
}

TEST_F(EventMessagesTest, AVerbsDeviceThatGoesIsNamed) {
  EXPECT_EQ(on_uevent(recorded_event("uevent_verbs_remove"), sink_), "uverbs2");
}

// The recording with the two words for what happened replaced.
TEST_F(EventMessagesTest, AVerbsDeviceThatComesIsNot) {
  std::string text = with("uevent_verbs_remove", "remove@", "add@");
  const std::size_t action = text.find("ACTION=remove");
  ASSERT_NE(action, std::string::npos);
  text.replace(action, std::string_view("ACTION=remove").size(), "ACTION=add");
  EXPECT_EQ(on_uevent(bytes_of(text), sink_), "");
  EXPECT_EQ(received(EventSource::uevent), 1U);
}

TEST_F(EventMessagesTest, ALinkConcernsItsInterfaceOnly) {
  on_links(recorded_event("link_mtu"), sink_);
  EXPECT_EQ(changes_.links(), 1U);
  EXPECT_EQ(received(EventSource::link), 1U);
  EXPECT_EQ(changes_.of("dum0"), 1U);
  EXPECT_EQ(changes_.of("ve0"), 0U);
  EXPECT_EQ(changes_.all(), 0U);
}

TEST_F(EventMessagesTest, MonitorMessagesAreAReasonToLookAtEverything) {
  for (const char* message : {"monitor_register", "monitor_attach", "monitor_unregister"})
    on_monitor(recorded_event(message), sink_);
  EXPECT_EQ(received(EventSource::monitor), 3U);
  EXPECT_EQ(changes_.all(), 3U);
}

TEST_F(EventMessagesTest, WhatCannotBeReadIsLostAndEverythingIsLookedAt) {
  auto uevent = recorded_event("uevent_add");
  uevent.pop_back();
  EXPECT_EQ(on_uevent(uevent, sink_), "");
  auto link = recorded_event("link_mtu");
  link.pop_back();
  on_links(link, sink_);
  auto monitor = recorded_event("monitor_attach");
  monitor.pop_back();
  on_monitor(monitor, sink_);
  for (const EventSource source : {EventSource::uevent, EventSource::link, EventSource::monitor}) {
    EXPECT_EQ(lost(source), 1U);
    EXPECT_EQ(received(source), 0U);
  }
  EXPECT_EQ(changes_.all(), 3U);
}

}  // namespace
}  // namespace rdma_exporter::host
