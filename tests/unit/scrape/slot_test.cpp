// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "scrape/slot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rdma_exporter::scrape {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::Pair;

class Nothing : public core::Job {
 public:
  Nothing() : Job("port", "mlx5_0") {}
  void run(core::JobRun& /*run*/) override {}
};

Slot make_slot() { return Slot({std::make_shared<Nothing>(), 5s}); }

TEST(Slot, IsBusyWhileItsRunGoesOn) {
  Slot slot = make_slot();
  const Clock::time_point now;
  EXPECT_EQ(slot.admit(now), Outcome::pending);
  slot.started(now);
  EXPECT_EQ(slot.admit(now + 1h), Outcome::busy);
  slot.ended(now + 1h, false);
  EXPECT_EQ(slot.admit(now + 1h), Outcome::pending) << "one late run is no reason to wait";
}

TEST(Slot, BacksOffAfterSeveralTimeoutsInARowAndNeverLongerThanAMinute) {
  Slot slot = make_slot();
  Clock::time_point now;
  for (int i = 0; i < 3; ++i) {
    slot.started(now);
    slot.ended(now, false);
  }
  EXPECT_EQ(slot.admit(now), Outcome::back_off);
  EXPECT_EQ(slot.admit(now + 1s), Outcome::pending);
  for (int i = 0; i < 20; ++i) {
    slot.started(now);
    slot.ended(now, false);
  }
  EXPECT_EQ(slot.admit(now + 59s), Outcome::back_off);
  EXPECT_EQ(slot.admit(now + 60s), Outcome::pending);
}

TEST(Slot, ForgetsTimeoutsWithTheFirstRunInTime) {
  Slot slot = make_slot();
  const Clock::time_point now;
  for (int i = 0; i < 2; ++i) {
    slot.started(now);
    slot.ended(now, false);
  }
  slot.started(now);
  slot.ended(now, true);
  slot.started(now);
  slot.ended(now, false);
  EXPECT_EQ(slot.admit(now), Outcome::pending);
}

TEST(Slot, InheritsTheTotalsOfItsPredecessor) {
  Slot earlier = make_slot();
  core::JobRun run(1);
  run.count_read_error("EIO");
  run.count_dropped("series_per_device", 7);
  earlier.fold(run);
  earlier.fold(run);
  Slot later = make_slot();
  later.inherit(earlier);
  EXPECT_THAT(later.read_errors(), ElementsAre(Pair("EIO", 2)));
  EXPECT_THAT(later.dropped(), ElementsAre(Pair("series_per_device", 14)));
}

}  // namespace
}  // namespace rdma_exporter::scrape
