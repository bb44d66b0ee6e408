// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Trees are synthetic and follow drivers/infiniband/core/sysfs.c; netlink answers, too, and follow
// stat_get_doit_default_counter() and fill_stat_hwcounter_entry() of drivers/infiniband/core/nldev.c. The
// test controls the time.
#include "collectors/burst/sampler/device_sampler.h"

#include <gtest/gtest.h>
#include <rdma/rdma_netlink.h>

#include <cerrno>
#include <functional>
#include <map>
#include <span>
#include <string>

#include "collectors/burst/families.h"
#include "host/netlink/netlink_attr.h"
#include "host/netlink/nldev/nldev.h"
#include "tests/unit/collectors/burst/burst_clock.h"
#include "tests/unit/support/recorded_netlink.h"
#include "tests/unit/support/temp_tree.h"
#include "tests/unit/support/watched_fs.h"

namespace rdma_exporter::collectors {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

const std::string kPort = "class/infiniband/d0/ports/1/";
constexpr double kWordsOfALine = 50e9 / 4;  // 400 Gb/s in words of 4 octets

class DeviceSamplerTest : public ::testing::Test {
 protected:
  DeviceSamplerTest() {
    auto fs = std::make_unique<test::WatchedFs>(host::make_host_fs(tree_.root()));
    fs_ = fs.get();
    host_.sysfs = std::move(fs);
    host_.make_netlink = [this](host::NetlinkProtocol) {
      return std::make_unique<test::ScriptedNetlink>(script_);
    };
    tree_.write(kPort + "state", "4: ACTIVE\n");
    tree_.write(kPort + "rate", "400 Gb/sec (4X NDR)\n");
    tree_.write(kPort + "counters/port_rcv_data", "0\n");
    tree_.write(kPort + "counters/port_xmit_data", "0\n");
    device_->name = "d0";
    device_->path = "class/infiniband/d0";
    device_->protocol = "roce";
    device_->ports = {1};
  }

  void with_statistics() {
    device_->driver = host::Driver::mlx5;
    device_->netlink_index = 0;
    script_->respond = [this](std::uint16_t, host::Bytes) {
      ++questions_;
      if (refusal_ != 0) return std::optional<core::Result<test::Message>>(core::os_error(refusal_));
      return std::optional<core::Result<test::Message>>(answer());
    };
  }

  DeviceSampler& sampler() {
    if (!sampler_)
      sampler_ = std::make_unique<DeviceSampler>(host_, device_, settings_, threads_, clock_.time());
    return *sampler_;
  }
  /// Turns for `time`, before each of which `before` is told the time since the start.
  void run(
      nanoseconds time, const std::function<void(nanoseconds)>& before = [](nanoseconds) {}) {
    const auto end = clock_.now + time;
    while (clock_.now < end) {
      before(clock_.now - BurstClock::time_point(1'000s));
      const auto next = sampler().turn(std::exchange(first_, false));
      ASSERT_GT(next, clock_.now);
      clock_.now = next;
    }
  }
  BurstSource& source(std::size_t index = 0) { return sampler().ports().front().readers.at(index)->source(); }
  std::uint64_t count(WindowResult result, std::size_t of = 0) {
    return source(of).state().counts.at(static_cast<std::size_t>(result));
  }
  /// The distribution of the signal of that family with these labels.
  std::optional<core::HistogramData> values(const core::MetricDesc& family, const std::string& labels,
                                            std::size_t of = 0) {
    const auto& signals = source(of).signals();
    for (std::size_t i = 0; i < signals.size(); ++i)
      if (signals[i].family == &family && signals[i].labels == labels)
        if (auto view = source(of).view(i, clock_.now)) return view->values;
    return {};
  }
  void send(double words) const {
    tree_.write(kPort + "counters/port_xmit_data", std::to_string(static_cast<std::uint64_t>(words)) + "\n");
  }

  test::Message answer() const {
    test::Message entries;
    for (const auto& [name, value] : statistics_) {
      test::Message entry;
      const std::string text = name + '\0';
      host::append_attr(entry, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, std::as_bytes(std::span(text)));
      host::append_attr(entry, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE,
                        std::as_bytes(std::span(&value, 1)));
      host::append_attr(entries, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY | NLA_F_NESTED, entry);
    }
    test::Message message;
    host::append_attr(message, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS | NLA_F_NESTED, entries);
    return message;
  }

  test::TempTree tree_;
  test::WatchedFs* fs_ = nullptr;
  std::shared_ptr<test::Script> script_ = std::make_shared<test::Script>();
  host::Host host_;
  std::shared_ptr<host::Device> device_ = std::make_shared<host::Device>();
  BurstSettings settings_;
  std::shared_ptr<std::atomic<unsigned>> threads_ = std::make_shared<std::atomic<unsigned>>(1);
  BurstTestClock clock_;
  std::map<std::string, std::uint64_t> statistics_;
  int refusal_ = 0;
  int questions_ = 0;

 private:
  std::unique_ptr<DeviceSampler> sampler_;
  bool first_ = true;
};

TEST_F(DeviceSamplerTest, TrafficThatComesInBurstsIsSeenInTheWindows) {
  run(20s, [&](nanoseconds time) {
    const nanoseconds busy = time / 500ms * 200ms + std::min<nanoseconds>(time % 500ms, 200ms);
    send(0.75 * kWordsOfALine * std::chrono::duration<double>(busy).count());
  });
  const auto sent = values(kBurstUtilization, R"(direction="tx")").value();
  EXPECT_EQ(sent.count(), 199U);
  EXPECT_NEAR(sent.sum / 199, 0.3, 0.004);
  EXPECT_EQ(sent.buckets[7].cumulative - sent.buckets[6].cumulative, 80U) << "0.7 to 0.8";
  EXPECT_EQ(values(kBurstUtilization, R"(direction="rx")")->buckets[0].cumulative, 199U);
}

TEST_F(DeviceSamplerTest, APortThatIsDownIsNotReadAndComesBack) {
  tree_.write(kPort + "state", "1: DOWN\n");
  run(30s);
  EXPECT_EQ(fs_->reads[kPort + "counters/port_xmit_data"], 0);
  EXPECT_EQ(count(WindowResult::used), 0U);
  tree_.write(kPort + "state", "4: ACTIVE\n");
  run(10s);
  EXPECT_GE(count(WindowResult::used), 40U) << "it is looked at again within 5 s";
  EXPECT_EQ(count(WindowResult::late), 0U);
}

TEST_F(DeviceSamplerTest, AnotherRateHoldsFromTheNextLook) {
  run(3s, [&](nanoseconds time) { send(kWordsOfALine / 4 * std::chrono::duration<double>(time).count()); });
  tree_.write(kPort + "rate", "100 Gb/sec (4X EDR)\n");
  run(5s, [&](nanoseconds time) { send(kWordsOfALine / 4 * std::chrono::duration<double>(time).count()); });
  EXPECT_EQ(count(WindowResult::reset), 1U);
  const auto sent = values(kBurstUtilization, R"(direction="tx")").value();
  EXPECT_GE(sent.count() - sent.buckets[9].cumulative, 40U) << "full at a quarter of the rate";
}

TEST_F(DeviceSamplerTest, AFileThatTheDriverDoesNotAnswerIsLeftOut) {
  fs_->failures[kPort + "counters/port_rcv_data"] = EINVAL;
  run(5s);
  EXPECT_EQ(values(kBurstUtilization, R"(direction="rx")"), std::nullopt);
  EXPECT_EQ(values(kBurstUtilization, R"(direction="tx")")->count(), 49U);
  EXPECT_EQ(fs_->reads[kPort + "counters/port_rcv_data"], 1);
  EXPECT_TRUE(source().take_errors().empty());
}

TEST_F(DeviceSamplerTest, AReadThatFailsIsTriedLessAndLess) {
  fs_->failures[kPort + "counters/port_rcv_data"] = EIO;
  run(60s);
  EXPECT_LE(fs_->reads[kPort + "counters/port_rcv_data"], 8);
  EXPECT_EQ(source().take_errors(), std::vector<std::string_view>{"EIO"});
  EXPECT_GE(count(WindowResult::error), 5U);
  fs_->failures.clear();
  run(65s);
  EXPECT_GT(count(WindowResult::used), 0U);
}

TEST_F(DeviceSamplerTest, ADeviceWithoutCountersCostsNextToNothing) {
  tree_.remove(kPort + "counters");
  run(60s);
  EXPECT_FALSE(source().has_counters());
  EXPECT_LE(fs_->reads[kPort + "state"], 13);
}

TEST_F(DeviceSamplerTest, CountsOfPacketsComeWithOneQuestionEachWindow) {
  with_statistics();
  statistics_ = {
      {"np_cnp_sent", 0}, {"rp_cnp_handled", 5}, {"rp_cnp_ignored", 0}, {"out_of_buffer", 0}, {"other", 9}};
  run(2s, [&](nanoseconds time) {
    if (time == 1s) statistics_["rp_cnp_handled"] += 40, statistics_["rp_cnp_ignored"] += 2;
    if (time >= 1s) statistics_["out_of_buffer"] = 0;
  });
  EXPECT_EQ(questions_, 20);
  const auto received = values(kBurstCnp, R"(direction="rx")", 1).value();
  EXPECT_EQ(received.count(), 19U);
  EXPECT_EQ(received.sum, 42);
  EXPECT_EQ(received.buckets[0].cumulative, 18U) << "all in one window";
  EXPECT_TRUE(values(kBurstReceiveBufferMissing, "", 1).has_value());
  EXPECT_EQ(values(kBurstEcnMarked, "", 1), std::nullopt) << "this kernel does not count them";
}

TEST_F(DeviceSamplerTest, CountersInAnotherOrderAreNotMixedUp) {
  with_statistics();
  statistics_ = {{"np_cnp_sent", 1'000'000}, {"rp_cnp_handled", 5}};
  run(1s);
  statistics_ = {{"a_new_one", 77}, {"np_cnp_sent", 1'000'000}, {"out_of_buffer", 3}, {"rp_cnp_handled", 5}};
  run(1s);
  EXPECT_EQ(values(kBurstCnp, R"(direction="rx")", 1)->sum, 0);
  EXPECT_EQ(values(kBurstCnp, R"(direction="tx")", 1)->sum, 0);
  EXPECT_EQ(values(kBurstReceiveBufferMissing, "", 1)->sum, 0);
}

TEST_F(DeviceSamplerTest, ARefusalOfNetlinkLeavesTheFilesAlone) {
  with_statistics();
  refusal_ = EINVAL;
  run(60s);
  EXPECT_LE(questions_, 7);
  EXPECT_GE(count(WindowResult::used), 590U);
  EXPECT_EQ(source(1).take_errors(), std::vector<std::string_view>{"EINVAL"});
}

TEST_F(DeviceSamplerTest, OnAnInfiniBandPortWhatOnlyRoceCountsIsLeftOut) {
  with_statistics();
  device_->protocol = "ib";
  for (const BurstSignal& signal : source(1).signals()) EXPECT_NE(signal.family, &kBurstCnp);
}

TEST_F(DeviceSamplerTest, ADriverThatRefreshesRarelyIsReadAsRarely) {
  settings_.window = 10ms;
  run(10s, [&](nanoseconds time) {
    send(kWordsOfALine * 0.6 * std::chrono::duration<double>(time / 50ms * 50ms).count());
  });
  EXPECT_EQ(source().state().window, 200ms);
  const auto sent = values(kBurstUtilization, R"(direction="tx")").value();
  EXPECT_GT(sent.count(), 30U);
  EXPECT_NEAR(sent.sum / static_cast<double>(sent.count()), 0.6, 0.02);
}

TEST_F(DeviceSamplerTest, ReadsThatTakeTooMuchOfTheTimeMakeTheWindowLonger) {
  with_statistics();
  statistics_ = {{"np_cnp_sent", 0}};
  script_->respond = [this](std::uint16_t, host::Bytes) {
    clock_.now += 12ms;
    return std::optional<core::Result<test::Message>>(answer());
  };
  run(30s);
  EXPECT_EQ(source(1).state().window, 400ms);
  EXPECT_GT(count(WindowResult::used, 1), 0U);
}

TEST(ReadWatch, HangsAfterTenWindowsAndASecond) {
  ReadWatch watch;
  const BurstClock::time_point start{100s};
  EXPECT_FALSE(watch.hangs(start));
  watch.begin(start, 10ms);
  EXPECT_FALSE(watch.hangs(start + 900ms));
  EXPECT_TRUE(watch.hangs(start + 1'100ms));
  watch.begin(start, 200ms);
  EXPECT_FALSE(watch.hangs(start + 1'900ms));
  EXPECT_TRUE(watch.hangs(start + 2'100ms));
  watch.end();
  EXPECT_FALSE(watch.hangs(start + 1h));
}

}  // namespace
}  // namespace rdma_exporter::collectors
