// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// A port's counter is a function of virtual time, read at moments that the test chooses.
#include "collectors/burst/source.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "collectors/burst/families.h"

namespace rdma_exporter::collectors {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

constexpr double kLine = 50e9;  // bytes per second: 400 Gb/s
constexpr double kWord = 4;     // octets of ports/N/counters/port_xmit_data

std::vector<BurstSignal> data_signal() {
  return {{&kBurstUtilization, &kBurstMaxUtilization, &kBurstLength, R"(direction="tx")", BurstKind::share,
           kWord, kBurstShareBounds, kBurstLengthBounds}};
}

/// Observations in the classic bucket up to `bound`.
std::uint64_t in_bucket(const core::HistogramData& data, double bound) {
  std::uint64_t below = 0;
  for (const core::Bucket& bucket : data.buckets) {
    if (bucket.upper_bound >= bound) return bucket.cumulative - below;
    below = bucket.cumulative;
  }
  ADD_FAILURE() << bound;
  return 0;
}

/// Words that a line has carried which is `share` full for `on` of each `period`, from the time 0 on.
std::function<std::uint64_t(nanoseconds)> square(double share, nanoseconds on, nanoseconds period,
                                                 nanoseconds phase = 0ns) {
  return [=](nanoseconds time) {
    const nanoseconds shifted = time + phase;
    const nanoseconds busy = shifted / period * on + std::min(shifted % period, on);
    return static_cast<std::uint64_t>(
        std::llround(share * kLine / kWord * std::chrono::duration<double>(busy).count()));
  };
}

class Port {
 public:
  explicit Port(nanoseconds window) : cadence_{window} {
    source.set_counters({{0, 64}});
    source.set_capacity(kLine);
  }
  /// A read around `time` that takes `spent`.
  void read(nanoseconds time, nanoseconds spent = 0ns) {
    const std::uint64_t value = counter(time);
    const BurstClock::time_point middle{time};
    source.take({middle - spent / 2, middle + spent / 2}, {&value, 1}, cadence_);
    now = middle;
  }
  void run(unsigned windows) {
    for (unsigned i = 0; i <= windows; ++i) read(i * cadence_.window);
  }
  core::HistogramData values() const { return source.view(0, now)->values; }
  double mean() const { return values().sum / static_cast<double>(values().count()); }
  std::uint64_t count(WindowResult result) const {
    return source.state().counts.at(static_cast<std::size_t>(result));
  }

  BurstSource source{data_signal()};
  std::function<std::uint64_t(nanoseconds)> counter = [](nanoseconds) { return 0; };
  BurstClock::time_point now;

 private:
  const Cadence cadence_;
};

TEST(BurstSource, ASquareWaveInStepWithTheWindowsIsExact) {
  Port port(100ms);
  port.counter = square(0.75, 300ms, 1s);
  port.run(100);
  EXPECT_EQ(port.values().count(), 100U);
  EXPECT_EQ(in_bucket(port.values(), 0.8), 30U);
  EXPECT_EQ(in_bucket(port.values(), 0.01), 70U);
  EXPECT_NEAR(port.values().sum, 30 * 0.75, 1e-6);
  EXPECT_NEAR(port.source.view(0, port.now)->maximum.value(), 0.75, 1e-9);
  EXPECT_EQ(port.count(WindowResult::used), 100U);
}

TEST(BurstSource, AnotherPhaseMixesTwoWindowsOfEachPeriodAndKeepsTheMean) {
  Port port(100ms);
  port.counter = square(0.75, 300ms, 1s, 40ms);
  port.run(100);
  EXPECT_EQ(in_bucket(port.values(), 0.8), 20U);
  EXPECT_EQ(in_bucket(port.values(), 0.01), 60U);
  EXPECT_NEAR(port.mean(), 0.225, 1e-3);
}

TEST(BurstSource, TwentyMillisecondsOfEach200AtLineRate) {
  Port port(10ms);
  port.counter = square(1, 20ms, 200ms);
  port.run(2'000);
  EXPECT_EQ(in_bucket(port.values(), 1), 200U);
  EXPECT_EQ(in_bucket(port.values(), 0.01), 1'800U);
  const auto lengths = port.source.view(0, port.now)->lengths.value();
  EXPECT_EQ(lengths.count(), 100U) << "each burst is one run";
  EXPECT_NEAR(lengths.sum, 2.0, 1e-6);
}

TEST(BurstSource, ReadsThatComeEarlyAndLateAreMeasuredByTheirRealTime) {
  Port port(100ms);
  port.counter = square(0.75, 10ms, 10ms);
  std::mt19937 random(1);
  std::uniform_int_distribution<int> jitter(-24, 24);
  for (int i = 0; i <= 1'000; ++i) port.read(1s + i * 100ms + jitter(random) * 1ms);
  EXPECT_EQ(port.values().count(), 1'000U) << "windows of 52 to 148 ms";
  EXPECT_EQ(in_bucket(port.values(), 0.8), 1'000U);
}

TEST(BurstSource, MissedTicksAreLateAndWhatFollowsIsUsed) {
  Port port(100ms);
  port.counter = square(1, 100ms, 200ms);
  for (const auto time : {0ms, 100ms, 500ms, 600ms, 640ms, 740ms}) port.read(time);
  EXPECT_EQ(port.count(WindowResult::late), 2U) << "of 400 ms, and of 40 ms";
  EXPECT_EQ(port.count(WindowResult::used), 3U);
}

TEST(BurstSource, AReadThatTakesThreeWindowsSpoilsTheTwoAroundIt) {
  Port port(100ms);
  port.counter = square(0.75, 100ms, 100ms);
  port.read(0ms);
  port.read(100ms);
  port.read(350ms, 300ms);
  port.read(600ms);
  port.read(700ms);
  EXPECT_EQ(port.count(WindowResult::late), 2U);
  EXPECT_EQ(in_bucket(port.values(), 0.8), 2U);
  EXPECT_NEAR(port.values().sum, 1.5, 1e-9);
}

TEST(BurstSource, SlowReadsAtLineRateAreNotTakenForMoreThanTheLineCarries) {
  Port port(100ms);
  const auto line = square(1, 100ms, 100ms);
  // The kernel looks at the end of the first read and at the begin of the next one, and the other way round.
  int i = 0;
  port.counter = [&](nanoseconds time) { return line(time + (++i % 2 == 0 ? 4ms : -4ms)); };
  for (int n = 1; n < 101; ++n) port.read(n * 100ms, 8ms);
  EXPECT_EQ(port.count(WindowResult::used), 99U);
  EXPECT_EQ(port.count(WindowResult::implausible), 0U);
  EXPECT_NEAR(port.mean(), 1, 0.01);
}

TEST(BurstSource, MoreThanTheLineCarriesIsNotUsed) {
  Port port(100ms);
  port.counter = square(1.5, 100ms, 100ms);
  port.run(10);
  EXPECT_EQ(port.count(WindowResult::implausible), 10U);
  EXPECT_EQ(port.values().count(), 0U);
  EXPECT_EQ(port.source.view(0, port.now)->maximum, std::nullopt);
}

TEST(BurstSource, StairsOfTheDriverAreFoundAndWidenTheWindow) {
  Port port(10ms);
  const auto line = square(0.6, 10ms, 10ms);
  port.counter = [&](nanoseconds time) { return line(time / 50ms * 50ms); };
  port.run(100);
  ASSERT_TRUE(port.source.refresh().has_value());
  EXPECT_EQ(*port.source.refresh(), 50ms);
}

TEST(BurstSource, BurstsAreNoStairs) {
  Port port(100ms);
  port.counter = square(1, 20ms, 200ms);
  port.run(1'000);
  EXPECT_EQ(port.source.refresh(), std::nullopt) << "never more than the line carries";
  Port wrong_rate(10ms);
  wrong_rate.counter = square(1.5, 30ms, 200ms);
  wrong_rate.run(1'000);
  EXPECT_EQ(wrong_rate.source.refresh(), std::nullopt) << "it moves in two windows in a row";
}

TEST(BurstSource, ACounterThatFallsIsAReset) {
  Port port(100ms);
  const auto line = square(0.75, 100ms, 100ms);
  port.counter = [&](nanoseconds time) { return line(time < 450ms ? 10s + time : time); };
  port.run(9);
  EXPECT_EQ(port.count(WindowResult::reset), 1U);
  EXPECT_EQ(in_bucket(port.values(), 0.8), 8U);
}

TEST(BurstSource, ACounterStuckAtTheHighestValueOfItsFieldIsNoIdleLine) {
  Port port(100ms);
  port.counter = [](nanoseconds) { return 0xffff'ffffU; };
  port.run(3);
  EXPECT_EQ(port.count(WindowResult::reset), 3U);
  EXPECT_EQ(port.values().count(), 0U);
}

TEST(BurstSource, AnotherRateSpoilsTheWindowInWhichItCame) {
  Port port(100ms);
  port.counter = square(0.25, 100ms, 100ms);
  port.read(0ms);
  port.read(100ms);
  port.source.set_capacity(kLine / 2);
  port.read(200ms);
  port.read(300ms);
  EXPECT_EQ(port.count(WindowResult::reset), 1U);
  EXPECT_EQ(in_bucket(port.values(), 0.3), 1U);
  EXPECT_EQ(in_bucket(port.values(), 0.5), 1U);
}

TEST(BurstSource, WindowsOfAnotherLengthAreAnotherDistribution) {
  Port port(100ms);
  port.counter = square(0.75, 100ms, 100ms);
  port.run(10);
  const std::uint64_t value = port.counter(1200ms);
  const BurstClock::time_point at{1200ms};
  port.source.take({at, at}, {&value, 1}, {200ms});
  EXPECT_EQ(port.values().count(), 1U);
  EXPECT_EQ(port.source.state().window, 200ms);
}

TEST(BurstSource, AFailedReadingIsNoBase) {
  Port port(100ms);
  port.counter = square(0.75, 100ms, 100ms);
  port.read(0ms);
  port.source.fail("EIO");
  port.read(100ms);
  EXPECT_EQ(port.values().count(), 0U);
  EXPECT_EQ(port.count(WindowResult::error), 1U);
  EXPECT_EQ(port.source.take_errors(), std::vector<std::string_view>{"EIO"});
  EXPECT_TRUE(port.source.take_errors().empty());
}

TEST(BurstSource, ASecondAtRestCountsAsItsWindows) {
  Port port(100ms);
  port.counter = square(0.005, 1s, 1s);
  for (const auto time : {0s, 1s}) {
    const std::uint64_t value = port.counter(time);
    port.source.take({BurstClock::time_point(time), BurstClock::time_point(time)}, {&value, 1}, {100ms, 10});
  }
  EXPECT_EQ(in_bucket(port.values(), 0.01), 10U);
  EXPECT_NEAR(port.values().sum, 0.05, 1e-9);
}

class Packets : public ::testing::Test {
 protected:
  Packets() { source_.set_counters({{0, 32}, {0, 64}}); }
  void read(nanoseconds time, std::uint64_t narrow, std::uint64_t wide) {
    const std::vector<std::uint64_t> values{narrow, wide};
    source_.take({BurstClock::time_point(time), BurstClock::time_point(time)}, values, {100ms});
  }
  BurstSource source_{
      {{&kBurstCnp, nullptr, nullptr, R"(direction="rx")", BurstKind::count, 1, kBurstCountBounds, {}}}};
};

TEST_F(Packets, CountersAreSummedAndNarrowOnesWrap) {
  read(0ms, 0xffff'fff0U, 7);
  read(100ms, 5, 9);  // 21 + 2
  read(200ms, 5, 9);
  const auto values = source_.view(0, {})->values;
  EXPECT_EQ(in_bucket(values, 100), 1U);
  EXPECT_EQ(in_bucket(values, 0), 1U);
  EXPECT_EQ(values.sum, 23);
}

TEST_F(Packets, NativeBucketsAreThoseOfTheNumber) {
  read(0ms, 0, 0);
  read(100ms, 3'000'000, 0);
  read(200ms, 3'000'000, 0);
  const auto native = source_.view(0, {})->values.native;
  EXPECT_EQ(native.zero_count, 1U);
  ASSERT_EQ(native.spans.size(), 1U);
  const int index = native.spans[0].offset;
  EXPECT_LT(std::exp2((index - 1) / 8.0), 3e6);
  EXPECT_GE(std::exp2(index / 8.0), 3e6);
  EXPECT_EQ(native.deltas, std::vector<std::int64_t>{1});
}

TEST_F(Packets, AReset32BitCounterIsNotFourBillionPackets) {
  read(0ms, 1'000, 0);
  read(100ms, 0, 0);
  EXPECT_EQ(source_.view(0, {})->values.count(), 0U);
  EXPECT_EQ(source_.state().counts[static_cast<std::size_t>(WindowResult::reset)], 1U);
}

TEST(RecentMaximum, ForgetsAfterAMinute) {
  RecentMaximum maximum;
  const BurstClock::time_point start{1'000s};
  maximum.observe(0.9, start);
  maximum.observe(0.2, start + 30s);
  EXPECT_EQ(maximum.get(start + 59s), 0.9);
  EXPECT_EQ(maximum.get(start + 60s), 0.2);
  EXPECT_EQ(maximum.get(start + 95s), std::nullopt);
  maximum.observe(0.1, start + 120s);  // the slot of the first
  EXPECT_EQ(maximum.get(start + 120s), 0.1);
}

}  // namespace
}  // namespace rdma_exporter::collectors
