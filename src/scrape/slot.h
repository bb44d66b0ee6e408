// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/job.h"
#include "core/metric.h"
#include "scrape/job_source.h"
#include "scrape/worker_pool.h"

namespace rdma_exporter::scrape {

using Clock = std::chrono::steady_clock;

/// How a job took part in one collection.
enum class Outcome : unsigned char {
  unwanted,  ///< of a collector that no scrape of this collection wants: not started, not reported
  pending,   ///< not finished yet, or never started before the deadline
  done,      ///< its samples are served
  late,      ///< over its time: left out, its result is dropped when it comes
  busy,      ///< inside a run of an earlier collection, or behind stuck ones of its owner: not started
  back_off,  ///< has timed out again and again: not tried until later
};

/// What is remembered of one job from collection to collection. Guarded by Shared::mutex.
class Slot {
 public:
  /// `owner`: on whose account the job's runs are.
  explicit Slot(PlannedJob planned, std::shared_ptr<Owner> owner = nullptr);

  core::Job& job() const { return *planned_.job; }
  const std::shared_ptr<Owner>& owner() const { return owner_; }
  /// `collector="...",device="..."`
  const std::string& labels() const { return labels_; }
  std::chrono::milliseconds timeout() const { return planned_.timeout; }

  /// Whether a run may start now: pending, or why not (busy, back_off).
  Outcome admit(Clock::time_point now) const;
  void started(Clock::time_point now);
  /// The run has returned, in time or not.
  void ended(Clock::time_point now, bool in_time);
  void count_timeout() { ++timeouts_; }
  /// Adds the run's error counts to the totals.
  void fold(const core::JobRun& run);
  /// Takes over the totals of an earlier job of the same collector and device.
  void inherit(const Slot& earlier);

  /// When the run that is still going on has started.
  std::optional<Clock::time_point> running_since() const { return started_; }

  /// An empty run for `cycle`, with the buffers of an earlier one where there is one.
  core::JobRun take_run(std::uint64_t cycle);
  void give_back(core::JobRun run);

  /// Adds rdma_exporter_collector_* and the error counters of this job. `duration` of the run being reported.
  void report(core::SampleBatch& out, Outcome outcome, bool success,
              std::chrono::duration<double> duration) const;

 private:
  using Totals = std::map<std::string, std::uint64_t, std::less<>>;

  PlannedJob planned_;
  std::shared_ptr<Owner> owner_;
  std::string labels_;
  std::optional<Clock::time_point> started_;
  Clock::time_point not_before_;
  unsigned timeouts_in_a_row_ = 0;
  std::uint64_t timeouts_ = 0;
  Totals read_errors_;
  Totals dropped_;
  std::optional<core::JobRun> spare_;
};

/// Families that Slot::report() emits.
std::span<const core::MetricDesc* const> slot_families();

}  // namespace rdma_exporter::scrape
