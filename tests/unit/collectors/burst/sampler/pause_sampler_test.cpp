// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Pause times with mlx5's names; the test controls the driver and the time.
#include "collectors/burst/sampler/pause_sampler.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "collectors/burst/families.h"
#include "tests/unit/collectors/burst/burst_clock.h"
#include "tests/unit/support/fake_ethtool.h"

namespace rdma_exporter::collectors {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

class PauseSamplerTest : public ::testing::Test {
 protected:
  PauseSamplerTest() {
    auto kernel = std::make_unique<test::FakeEthtool>();
    kernel_ = kernel.get();
    host_.ethtool = std::move(kernel);
    for (const char* name : {"rx_packets", "rx_prio3_pause_duration", "tx_prio3_pause_duration"})
      statistic(name);
  }
  std::uint64_t& statistic(const std::string& name, const std::string& netdev = "eth0") {
    return kernel_->interfaces[netdev][name];
  }
  std::shared_ptr<PauseWatch> watch(const std::string& name = "eth0") {
    auto netdev = std::make_shared<host::Netdev>();
    netdev->name = name;
    netdev->driver = "mlx5_core";
    auto watch = std::make_shared<PauseWatch>(host_, netdev, shared_, settings_);
    sampler().add(watch);
    return watch;
  }
  PauseSampler& sampler() {
    if (!sampler_) sampler_ = std::make_unique<PauseSampler>(settings_, threads_, clock_.time());
    return *sampler_;
  }
  void run(nanoseconds time) {
    const auto end = clock_.now + time;
    while (clock_.now < end) {
      const auto next = sampler().turn(std::exchange(first_, false));
      ASSERT_GT(next, clock_.now);
      clock_.now = next;
    }
  }
  int readings() const {
    const auto it = kernel_->calls.find(ETHTOOL_GSTATS);
    return it == kernel_->calls.end() ? 0 : it->second;
  }
  std::optional<core::HistogramData> values(PauseWatch& watch, const std::string& labels) {
    const auto& signals = watch.source().signals();
    for (std::size_t i = 0; i < signals.size(); ++i)
      if (signals[i].labels == labels)
        if (auto view = watch.source().view(i, clock_.now)) return view->values;
    return {};
  }

  host::Host host_;
  test::FakeEthtool* kernel_ = nullptr;
  std::shared_ptr<NetdevShared> shared_ = std::make_shared<NetdevShared>();
  std::shared_ptr<std::atomic<unsigned>> threads_ = std::make_shared<std::atomic<unsigned>>(1);
  BurstSettings settings_;
  BurstTestClock clock_;

 private:
  std::unique_ptr<PauseSampler> sampler_;
  bool first_ = true;
};

const std::string kRx3 = R"(priority="3",direction="rx")";

TEST_F(PauseSamplerTest, WhileNothingIsPausedReadsOnceASecond) {
  const auto eth0 = watch();
  run(10s);
  EXPECT_LE(readings(), 11);
  EXPECT_GE(readings(), 10);
  EXPECT_EQ(values(*eth0, kRx3)->buckets[0].cumulative, 90U) << "each second is ten windows of 100 ms";
}

TEST_F(PauseSamplerTest, APauseHasEachWindowReadForHalfAMinute) {
  const auto eth0 = watch();
  run(5s);
  statistic("rx_prio3_pause_duration") += 20'000;  // 2 % of a second, in microseconds
  run(1s);
  const int before = readings();
  // 300 ms of pause, in the middle of it.
  for (int i = 0; i < 3; ++i) {
    statistic("rx_prio3_pause_duration") += 100'000;
    run(100ms);
  }
  run(9'700ms);
  EXPECT_NEAR(readings() - before, 100, 2);
  const auto paused = values(*eth0, kRx3).value();
  EXPECT_EQ(paused.buckets[9].cumulative - paused.buckets[8].cumulative, 3U) << "windows of 0.9 to 1";
  run(40s);
  const int calm = readings();
  run(10s);
  EXPECT_LE(readings() - calm, 11) << "and then a second is enough again";
}

TEST_F(PauseSamplerTest, AStormThatTheAdapterSawHasEachWindowRead) {
  statistic("tx_pause_storm_warning_events") = 4;
  const auto eth0 = watch();
  run(5s);
  ++statistic("tx_pause_storm_warning_events");
  run(1s);
  const int before = readings();
  run(5s);
  EXPECT_NEAR(readings() - before, 50, 2);
}

TEST_F(PauseSamplerTest, AtMostATwentiethOfTheTimeIsSpentInside) {
  settings_.pause = BurstPause::always;
  settings_.window = 10ms;
  for (const char* name : {"eth1", "eth2"})
    for (const char* counter : {"rx_prio3_pause_duration", "tx_prio3_pause_duration"})
      statistic(counter, name);
  nanoseconds inside{0};
  kernel_->before = [&](std::uint32_t command) {
    if (command != ETHTOOL_GSTATS) return;
    clock_.now += 4ms;
    inside += 4ms;
  };
  const auto eth0 = watch("eth0");
  const auto eth1 = watch("eth1");
  const auto eth2 = watch("eth2");
  run(60s);
  EXPECT_LE(inside, 3s + 100ms);
  for (const auto& one : {eth0, eth1, eth2})
    EXPECT_GT(one->source().state().counts[0], 50U) << "each has its turn, in windows that became longer";
}

TEST_F(PauseSamplerTest, AReadThatHungDelaysTheOthersByAMinuteAtMost) {
  statistic("rx_prio3_pause_duration", "eth1");
  const auto eth0 = watch("eth0");
  const auto eth1 = watch("eth1");
  run(5s);
  bool hangs = true;
  kernel_->before = [&](std::uint32_t command) {
    if (command == ETHTOOL_GSTATS && std::exchange(hangs, false)) clock_.now += 40s;
  };
  run(1s);
  ASSERT_FALSE(hangs);
  const int before = readings();
  run(59s);
  EXPECT_EQ(readings(), before);
  run(11s);
  EXPECT_GE(readings() - before, 20) << "both once a second, as before";
  EXPECT_EQ(eth0->source().state().window, settings_.window) << "one read tells nothing about the next";
}

TEST_F(PauseSamplerTest, PrioritiesWithoutFlowControlAreLeftOut) {
  for (int priority = 0; priority < 8; ++priority)
    statistic("rx_prio" + std::to_string(priority) + "_pause_duration");
  shared_->set_pfc(std::uint8_t{1U << 3});
  const auto eth0 = watch();
  run(5s);
  EXPECT_TRUE(values(*eth0, kRx3).has_value());
  EXPECT_FALSE(values(*eth0, R"(priority="4",direction="rx")").has_value());
  shared_->set_pfc(std::uint8_t{1U << 4});
  run(5s);
  EXPECT_FALSE(values(*eth0, kRx3).has_value());
  EXPECT_TRUE(values(*eth0, R"(priority="4",direction="rx")").has_value());
}

TEST_F(PauseSamplerTest, AnInterfaceWithoutPauseTimesIsLookedAtOnceAMinute) {
  kernel_->interfaces["eth0"] = {};
  statistic("rx_packets");
  const auto eth0 = watch();
  run(10min);
  EXPECT_LE(readings(), 11);
  EXPECT_FALSE(eth0->source().has_counters());
}

TEST_F(PauseSamplerTest, AReadThatFailsIsTriedLessAndLess) {
  const auto eth0 = watch();
  kernel_->refusals[ETHTOOL_GSTATS] = EIO;
  run(60s);
  EXPECT_LE(readings(), 8);
  EXPECT_EQ(eth0->source().take_errors(), std::vector<std::string_view>{"EIO"});
}

}  // namespace
}  // namespace rdma_exporter::collectors
