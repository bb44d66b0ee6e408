// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "scrape/slot.h"

#include <gtest/gtest.h>

#include "core/exposition/page_writer.h"

namespace rdma_exporter::scrape {
namespace {

using namespace std::chrono_literals;

class Nothing : public core::Job {
 public:
  Nothing() : Job("port", "mlx5_0") {}
  void run(core::JobRun& /*run*/) override {}
};

Slot make_slot() { return Slot({std::make_shared<Nothing>(), 5s}); }

std::string report(const Slot& slot, Outcome outcome, bool success) {
  core::SampleBatch batch;
  slot.report(batch, outcome, success, 1500ms);
  const core::SampleBatch* batches[] = {&batch};
  std::string page;
  core::write_text(slot_families(), batches, page);
  std::string samples;
  for (std::size_t at = 0; at < page.size();) {
    const std::size_t end = page.find('\n', at);
    if (page[at] != '#') samples += page.substr(at, end - at + 1);
    at = end + 1;
  }
  return samples;
}

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

TEST(Slot, ReportsTotalsOfErrorsByReason) {
  Slot slot = make_slot();
  core::JobRun run(1);
  run.count_read_error("EIO");
  run.count_read_error("EIO");
  run.count_dropped("series_per_device", 7);
  slot.fold(run);
  slot.fold(run);
  EXPECT_EQ(report(slot, Outcome::done, true),
            "rdma_exporter_collector_success{collector=\"port\",device=\"mlx5_0\"} 1\n"
            "rdma_exporter_collector_duration_seconds{collector=\"port\",device=\"mlx5_0\"} 1.5\n"
            "rdma_exporter_collector_busy{collector=\"port\",device=\"mlx5_0\"} 0\n"
            "rdma_exporter_collector_timeouts_total{collector=\"port\",device=\"mlx5_0\"} 0\n"
            "rdma_exporter_read_errors_total{collector=\"port\",device=\"mlx5_0\",reason=\"EIO\"} 4\n"
            "rdma_exporter_series_dropped_total{collector=\"port\",device=\"mlx5_0\",reason=\"series_per_"
            "device\"} 14\n");
}

TEST(Slot, InheritsTheTotalsOfItsPredecessor) {
  Slot earlier = make_slot();
  core::JobRun run(1);
  run.count_read_error("EIO");
  earlier.fold(run);
  earlier.count_timeout();
  Slot later = make_slot();
  later.inherit(earlier);
  EXPECT_EQ(report(later, Outcome::late, false), report(earlier, Outcome::late, false));
  EXPECT_NE(
      report(later, Outcome::late, false).find("timeouts_total{collector=\"port\",device=\"mlx5_0\"} 1"),
      std::string::npos);
}

TEST(Slot, GivesBuffersBackEmpty) {
  Slot slot = make_slot();
  core::JobRun run = slot.take_run(1);
  run.count_read_error("EIO");
  run.fail();
  slot.give_back(std::move(run));
  const core::JobRun again = slot.take_run(2);
  EXPECT_EQ(again.cycle(), 2U);
  EXPECT_TRUE(again.read_errors().empty());
  EXPECT_FALSE(again.failed());
}

}  // namespace
}  // namespace rdma_exporter::scrape
