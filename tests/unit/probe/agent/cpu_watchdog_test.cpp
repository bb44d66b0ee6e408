// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/session/schedule.h"

#include <gtest/gtest.h>

#include <vector>

namespace rdma_exporter::probe {
namespace {

using namespace std::chrono_literals;

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
