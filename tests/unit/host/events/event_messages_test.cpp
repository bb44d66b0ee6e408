// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/events/event_messages.h"

#include "tests/unit/host/recorded_events.h"

namespace rdma_exporter::host {
namespace {

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
