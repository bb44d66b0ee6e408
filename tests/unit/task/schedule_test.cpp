// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "task/schedule.h"

#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <string>

namespace rdma_exporter::task {
namespace {

using namespace std::chrono_literals;

const Clock::time_point kStart{1h};

TEST(Schedule, IsDueAtOnceAndThenOncePerInterval) {
  Schedule schedule(60s);
  EXPECT_TRUE(schedule.take(kStart));
  EXPECT_FALSE(schedule.take(kStart));
  EXPECT_FALSE(schedule.take(kStart + 59s));
  EXPECT_TRUE(schedule.take(kStart + 60s));
  EXPECT_FALSE(schedule.take(kStart + 119s));
}

TEST(Schedule, IsDueAtOnceAfterAReset) {
  Schedule schedule(60s, 600s);
  ASSERT_TRUE(schedule.take(kStart));
  schedule.back_off(kStart);
  schedule.reset();
  EXPECT_TRUE(schedule.take(kStart + 1s));
  EXPECT_TRUE(schedule.take(kStart + 61s)) << "and the back-off is over";
}

TEST(Schedule, WaitsTwiceAsLongAfterEachFailureUpToItsLimit) {
  Schedule schedule(10s, 35s);
  auto now = kStart;
  for (const auto wait : {20s, 35s, 35s}) {
    schedule.back_off(now);
    EXPECT_FALSE(schedule.due(now + wait - 1s));
    EXPECT_TRUE(schedule.due(now + wait));
    now += wait;
  }
  schedule.restart(now);
  EXPECT_FALSE(schedule.due(now + 9s));
  EXPECT_TRUE(schedule.due(now + 10s));
}

TEST(Schedule, KeepsItsBackOffWhenItIsPostponed) {
  Schedule schedule(10s, 600s);
  schedule.back_off(kStart);
  schedule.postpone(kStart + 1s);
  EXPECT_TRUE(schedule.due(kStart + 1s));
  schedule.back_off(kStart + 1s);
  EXPECT_FALSE(schedule.due(kStart + 40s));
  EXPECT_TRUE(schedule.due(kStart + 41s));
}

TEST(RetryingSchedule, RetriesAtOnceAndThenMoreRarely) {
  RetryingSchedule schedule(600s, "mlx5_0");
  ASSERT_TRUE(schedule.take(kStart));
  schedule.ended(false, kStart);
  EXPECT_FALSE(schedule.take(kStart + 1s));
  ASSERT_TRUE(schedule.take(kStart + 800s));
  schedule.ended(true, kStart + 800s);
  int attempts = 0;
  for (auto now = kStart + 800s; now < kStart + 900s; now += 100ms)
    if (schedule.take(now)) {
      ++attempts;
      schedule.ended(true, now);
    }
  EXPECT_EQ(attempts, 8) << "two at once, then with rests of 1, 2, 4, 8, 16, 32 s";
  EXPECT_TRUE(schedule.failed());
}

TEST(RetryingSchedule, WaitsForItsIntervalAfterASuccess) {
  RetryingSchedule schedule(600s, "mlx5_0");
  ASSERT_TRUE(schedule.take(kStart));
  schedule.ended(true, kStart);
  ASSERT_TRUE(schedule.take(kStart + 1s));
  schedule.ended(false, kStart + 1s);
  EXPECT_FALSE(schedule.failed());
  EXPECT_FALSE(schedule.take(kStart + 2s));
  schedule.reset();
  EXPECT_TRUE(schedule.take(kStart + 2s));
}

TEST(Schedule, NeverBacksOffToLessThanItsInterval) {
  Schedule schedule(60s, 30s);
  schedule.back_off(kStart);
  EXPECT_FALSE(schedule.due(kStart + 59s));
  EXPECT_TRUE(schedule.due(kStart + 60s));
}

// Otherwise a host with 256 interfaces asks them all in one scrape.
TEST(Schedule, HasAPhaseOfItsOwnForEachOwner) {
  std::set<int> waits;
  for (int i = 0; i < 64; ++i) {
    Schedule schedule(100s, "mlx5_" + std::to_string(i));
    schedule.restart(kStart);
    int wait = 0;
    while (!schedule.due(kStart + std::chrono::seconds(wait))) ++wait;
    EXPECT_GE(wait, 80);
    EXPECT_LE(wait, 120);
    waits.insert(wait);
  }
  EXPECT_GT(waits.size(), 10U);
}

TEST(Backoff, RestsFromTheThirdFailureOnAndAMinuteAtMost) {
  Backoff backoff;
  backoff.failed(kStart);
  backoff.failed(kStart);
  EXPECT_TRUE(backoff.allows(kStart));
  for (const auto rest : {1s, 2s, 4s, 8s, 16s, 32s, 60s, 60s}) {
    backoff.failed(kStart);
    EXPECT_FALSE(backoff.allows(kStart + rest - 1ms));
    EXPECT_TRUE(backoff.allows(kStart + rest));
  }
  backoff.succeeded();
  EXPECT_TRUE(backoff.allows(kStart));
  backoff.failed(kStart);
  EXPECT_TRUE(backoff.allows(kStart)) << "counts from the start again";
}

}  // namespace
}  // namespace rdma_exporter::task
