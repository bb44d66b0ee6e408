// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/session/schedule.h"

#include <gtest/gtest.h>

#include <vector>

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

TEST(Stretch, KeepsTheRateWithinItsLimit) {
  EXPECT_EQ(stretch_for(100, 500), 1);
  EXPECT_EQ(stretch_for(1000, 500), 2);
}

// A thread that runs for `cost` of each second at the full rate, and in proportion at a lower one.
class CpuWatchdogTest : public testing::Test {
 protected:
  std::vector<double> rates(CpuWatchdog& watchdog, double cost, int windows) {
    std::vector<double> seen;
    for (const auto end = now_ + windows * CpuWatchdog::kWindow; now_ < end; now_ += 100ms) {
      if (watchdog.due(now_)) watchdog.measure(now_, cpu_);
      if (seen.empty() || seen.back() != watchdog.rate()) seen.push_back(watchdog.rate());
      cpu_ += std::chrono::nanoseconds(static_cast<std::int64_t>(1e8 * cost * watchdog.rate()));
    }
    return seen;
  }

  Clock::time_point now_{1h};
  std::chrono::nanoseconds cpu_{7s};  // before the first window: not counted
};

TEST_F(CpuWatchdogTest, LeavesAloneWhatIsWithinTheLimit) {
  CpuWatchdog watchdog(0.1);
  EXPECT_EQ(rates(watchdog, 0.09, 100), std::vector<double>{1});
}

TEST_F(CpuWatchdogTest, GoesDownAsFarAsNeededAndStaysThere) {
  CpuWatchdog watchdog(0.1);
  EXPECT_EQ(rates(watchdog, 0.15, 100), (std::vector<double>{1, 0.5}));
}

TEST_F(CpuWatchdogTest, NeverGoesDownToNone) {
  CpuWatchdog watchdog(0.1);
  EXPECT_EQ(rates(watchdog, 50, 100), (std::vector<double>{1, 0.5, 0.25, 0.1}));
}

TEST_F(CpuWatchdogTest, ComesBackWhenTheCostIsGone) {
  CpuWatchdog watchdog(0.1);
  rates(watchdog, 50, 10);
  EXPECT_EQ(rates(watchdog, 0.05, 10), (std::vector<double>{0.1, 0.25, 0.5, 1}));
}

}  // namespace

}  // namespace rdma_exporter::probe
