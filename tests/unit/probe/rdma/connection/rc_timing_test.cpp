// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/rdma/connection/rc_timing.h"

#include <gtest/gtest.h>

namespace rdma_exporter::probe {
namespace {

using namespace std::chrono_literals;

TEST(RcTiming, DetectsABlackholeBetweenRetriesAndOneMore) {
  // Measured on Soft-RoCE: 14/3 reports after 214 to 261 ms, 14/1 after 93, 15/2 after 355.
  const DetectionWindow window = detection_window(RcTiming{.timeout = 14, .retry = 3});
  EXPECT_LT(window.earliest, 214ms);
  EXPECT_GT(window.latest, 261ms);
  EXPECT_EQ(window.earliest, 3 * 67'108'864ns);
  EXPECT_EQ(window.latest, 4 * 67'108'864ns);
}

TEST(RcTiming, GivesUpItselfAfterFourTimesTheLatestDetectionAndNotBeforeASecond) {
  EXPECT_EQ(operation_deadline(RcTiming{.timeout = 14, .retry = 3}), 16 * 67'108'864ns);
  EXPECT_EQ(operation_deadline(RcTiming{.timeout = 12, .retry = 0}), 1s);
}

TEST(RcTiming, TakesTheDefaultsAndWhatIsUsual) {
  EXPECT_TRUE(check(RcTiming{}));
  EXPECT_TRUE(check(RcTiming{.timeout = 16, .retry = 6}));
  EXPECT_TRUE(check(RcTiming{.timeout = 14, .retry = 0}));
}

TEST(RcTiming, RefusesWhatWaitsForEver) {
  EXPECT_FALSE(check(RcTiming{.timeout = 0}));
  EXPECT_FALSE(check(RcTiming{.retry = 7}));
  EXPECT_FALSE(check(RcTiming{.rnr_retry = 7}));
  // NCCL's 20 with retries: more than a minute until the own deadline
  EXPECT_FALSE(check(RcTiming{.timeout = 20, .retry = 6}));
}

TEST(RcTiming, RefusesTimeoutsThatSoftRoceReportsTooEarly) {
  const auto refused = check(RcTiming{.timeout = 11});
  ASSERT_FALSE(refused);
  EXPECT_EQ(core::to_string(refused.error()), "timeout 11 is not one of 12 to 20");
}

}  // namespace
}  // namespace rdma_exporter::probe
