// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/session/schedule.h"

#include <gtest/gtest.h>

namespace rdma_exporter::probe {
namespace {

using namespace std::chrono_literals;

const Clock::time_point kStart{1h};

TEST(Ticker, TicksOncePerPeriodUpToATenthEarlyOrLate) {
  for (const double random : {0.0, 0.5, 0.999}) {
    Ticker ticker(1s, 0.25, kStart);
    int ticks = 0;
    Clock::time_point last{};
    for (auto now = kStart; now < kStart + 100s; now += 10ms) {
      if (!ticker.due(now, 1, [random] { return random; })) continue;
      if (ticks++ == 0) {
        EXPECT_EQ(now, kStart + 250ms);
      } else {
        EXPECT_GE(now - last, 890ms);
        EXPECT_LE(now - last, 1110ms);
      }
      last = now;
    }
    EXPECT_NEAR(ticks, 100, 1);
  }
}

TEST(Ticker, DoesNotMakeUpForWhatItMissed) {
  Ticker ticker(1s, 0, kStart);
  const Random half = [] { return 0.5; };
  EXPECT_TRUE(ticker.due(kStart, 1, half));
  EXPECT_TRUE(ticker.due(kStart + 1h, 1, half));
  EXPECT_FALSE(ticker.due(kStart + 1h, 1, half));
  EXPECT_GE(ticker.next(), kStart + 1h + 400ms);
}

TEST(Ticker, TakesLongerPeriodsWhenStretched) {
  Ticker ticker(1s, 0, kStart);
  const Random half = [] { return 0.5; };
  EXPECT_TRUE(ticker.due(kStart, 4, half));
  EXPECT_EQ(ticker.next(), kStart + 4s);
}

TEST(TokenBucket, GivesItsRateAndNoMore) {
  TokenBucket bucket(10);
  int at_once = 0;
  while (bucket.take(kStart)) ++at_once;
  EXPECT_EQ(at_once, 10);
  EXPECT_EQ(bucket.next(), kStart + 100ms);
  int later = 0;
  for (auto now = kStart; now < kStart + 10s; now += 1ms) later += bucket.take(now) ? 1 : 0;
  EXPECT_NEAR(later, 100, 1);
}

TEST(Stretch, KeepsTheRateWithinItsLimit) {
  EXPECT_EQ(stretch_for(100, 500), 1);
  EXPECT_EQ(stretch_for(1000, 500), 2);
}

}  // namespace
}  // namespace rdma_exporter::probe
