// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/burst/sampler/pace.h"

#include <gtest/gtest.h>

namespace rdma_exporter::collectors {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

constexpr double kPercent = 0.01;

/// Ticks of `pace` for `time`, each with that cost.
void run(Pace& pace, BurstClock::time_point& now, std::chrono::seconds time, nanoseconds reading,
         nanoseconds cpu) {
  const auto end = now + time;
  while (now < end) {
    now += pace.window();
    pace.account(now, reading, cpu, kPercent);
  }
}

TEST(NextTick, IsAMultipleOfTheWindowSince1970) {
  const std::chrono::system_clock::time_point wall{1'700'000'000s + 130ms};
  const BurstClock::time_point now{50s};
  const Tick tick = next_tick(now, wall, 100ms);
  EXPECT_EQ(tick.at, now + 70ms);
  EXPECT_EQ(tick.number, 17'000'000'002);
}

TEST(NextTick, SkipsWhatWasMissedAndDoesNotReadTwiceAfterWakingEarly) {
  const BurstClock::time_point now{50s};
  const auto wall = [](auto time) { return std::chrono::system_clock::time_point(1'000s + time); };
  EXPECT_EQ(next_tick(now, wall(350ms), 100ms).at, now + 50ms);
  EXPECT_EQ(next_tick(now, wall(399'990us), 100ms).at, now + 100'010us) << "10 us before its time";
  EXPECT_EQ(next_tick(now, wall(400ms), 100ms).at, now + 100ms);
}

TEST(Pace, StaysWhileSamplingIsCheap) {
  Pace pace(10ms);
  BurstClock::time_point now{100s};
  run(pace, now, 300s, 400us, 80us);
  EXPECT_EQ(pace.window(), 10ms);
}

TEST(Pace, SlowReadsMakeTheWindowLonger) {
  Pace pace(10ms);
  BurstClock::time_point now{100s};
  run(pace, now, 30s, 3ms, 0ns);
  EXPECT_EQ(pace.window(), 80ms) << "3 ms are less than a twentieth of it";
}

TEST(Pace, ProcessorTimeMakesTheWindowLonger) {
  Pace pace(10ms);
  BurstClock::time_point now{100s};
  run(pace, now, 30s, 0ns, 150us);
  EXPECT_EQ(pace.window(), 20ms);
}

TEST(Pace, ComesToAnEndAtASecond) {
  Pace pace(100ms);
  BurstClock::time_point now{100s};
  run(pace, now, 120s, 400ms, 0ns);
  EXPECT_EQ(pace.window(), 1s);
}

TEST(Pace, ComesBackAfterAMinuteOfCalm) {
  Pace pace(100ms);
  BurstClock::time_point now{100s};
  run(pace, now, 2s, 20ms, 0ns);
  ASSERT_GT(pace.window(), 100ms);
  const nanoseconds slowed = pace.window();
  run(pace, now, 55s, 100us, 0ns);
  EXPECT_EQ(pace.window(), slowed);
  run(pace, now, 10s, 100us, 0ns);
  EXPECT_EQ(pace.window(), slowed / 2);
  run(pace, now, 300s, 100us, 0ns);
  EXPECT_EQ(pace.window(), 100ms) << "not below what was configured";
}

TEST(Pace, DoesNotSwingWhereHalfTheWindowWouldCostTooMuch) {
  Pace pace(10ms);
  BurstClock::time_point now{100s};
  run(pace, now, 10s, 800us, 0ns);
  ASSERT_EQ(pace.window(), 20ms);
  run(pace, now, 300s, 800us, 0ns);
  EXPECT_EQ(pace.window(), 20ms) << "4 % of the time";
}

}  // namespace
}  // namespace rdma_exporter::collectors
