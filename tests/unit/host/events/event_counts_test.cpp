// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/events/event_counts.h"

#include <gtest/gtest.h>

namespace rdma_exporter::host {
namespace {

using namespace std::chrono_literals;
using Type = AsyncEventType;
using Rows = std::map<std::string, std::uint64_t>;

class EventCountsTest : public ::testing::Test {
 protected:
  Rows rows() const {
    Rows all;
    counts_.for_each_of("d", [&](const std::string& labels, std::uint64_t n) { all.emplace(labels, n); });
    return all;
  }
  Rows gone(EventCounts::Clock::duration later = {}) {
    Rows all;
    counts_.for_each_gone(1h, start_ + later,
                          [&](const std::string& labels, std::uint64_t n) { all.emplace(labels, n); });
    return all;
  }
  static std::string row(const std::string& device, const std::string& port, const std::string& event) {
    return "device=\"" + device + "\",port=\"" + port + "\",event=\"" + event + "\"";
  }

  const std::vector<std::uint32_t> one_port_{1};
  const EventCounts::Clock::time_point start_ = EventCounts::Clock::now();
  EventCounts counts_;
};

TEST_F(EventCountsTest, AreThereBeforeTheFirstEvent) {
  counts_.listen("d", one_port_, false);
  EXPECT_EQ(rows(), (Rows{{row("d", "1", "PORT_ACTIVE"), 0},
                          {row("d", "1", "PORT_ERR"), 0},
                          {row("d", "1", "GID_CHANGE"), 0},
                          {row("d", "", "DEVICE_FATAL"), 0}}));
}

TEST_F(EventCountsTest, HaveTheEventsOfInfiniBandOnInfiniBandOnly) {
  counts_.listen("d", one_port_, true);
  for (const char* event : {"LID_CHANGE", "PKEY_CHANGE", "SM_CHANGE", "CLIENT_REREGISTER", "PORT_ERR"})
    EXPECT_TRUE(rows().contains(row("d", "1", event))) << event;
}

TEST_F(EventCountsTest, CountByPortAndEvent) {
  const std::vector<std::uint32_t> two{1, 2};
  counts_.listen("d", two, false);
  counts_.count("d", {Type::port_err, 2});
  counts_.count("d", {Type::port_err, 2});
  counts_.count("d", {Type::device_fatal, 0});
  EXPECT_EQ(rows().at(row("d", "2", "PORT_ERR")), 2U);
  EXPECT_EQ(rows().at(row("d", "1", "PORT_ERR")), 0U);
  EXPECT_EQ(rows().at(row("d", "", "DEVICE_FATAL")), 1U);
  EXPECT_EQ(counts_.source(EventSource::async).received, 3U);
}

TEST_F(EventCountsTest, DoNotGrowWithPortsThatTheDeviceDoesNotHave) {
  counts_.listen("d", one_port_, false);
  const std::size_t size = rows().size();
  for (std::uint32_t port = 100; port < 200; ++port) counts_.count("d", {Type::port_err, port});
  EXPECT_EQ(rows().size(), size + 1);
  EXPECT_EQ(rows().at(row("d", "", "PORT_ERR")), 100U);
}

// A device that is reset is registered anew: the DEVICE_FATAL of its end has to be seen meanwhile and after.
TEST_F(EventCountsTest, GoOnWhenADeviceComesBack) {
  counts_.adopt("d");
  counts_.listen("d", one_port_, false);
  counts_.count("d", {Type::device_fatal, 0});
  EXPECT_EQ(gone(), Rows{});
  counts_.release("d", start_);
  EXPECT_EQ(gone().at(row("d", "", "DEVICE_FATAL")), 1U);
  counts_.adopt("d");
  counts_.listen("d", one_port_, false);
  EXPECT_EQ(gone(48h), Rows{});
  EXPECT_EQ(rows().at(row("d", "", "DEVICE_FATAL")), 1U);
}

// A device that stays is adopted anew before it is released.
TEST_F(EventCountsTest, AreShownOnceWhileTwoRegistrationsOverlap) {
  counts_.adopt("d");
  counts_.listen("d", one_port_, false);
  counts_.adopt("d");
  counts_.release("d", start_);
  EXPECT_EQ(gone(48h), Rows{});
  EXPECT_EQ(rows().size(), 4U);
}

TEST_F(EventCountsTest, AreForgottenSomeTimeAfterTheDeviceWent) {
  for (const char* device : {"d", "stays"}) {
    counts_.adopt(device);
    counts_.listen(device, one_port_, false);
  }
  counts_.release("d", start_);
  EXPECT_TRUE(gone(59min).contains(row("d", "1", "PORT_ERR")));
  EXPECT_EQ(gone(60min), Rows{});
  EXPECT_EQ(rows(), Rows{});
}

}  // namespace
}  // namespace rdma_exporter::host
