// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/job.h"
#include "core/rare_counts.h"
#include "scrape/job_source.h"
#include "task/pool.h"
#include "task/schedule.h"

namespace rdma_exporter::scrape {

using Clock = std::chrono::steady_clock;

/// A point in time, or none. A host has thousands of them, and this is half as large as a std::optional.
class Moment {
 public:
  Moment() = default;
  Moment(Clock::time_point time) : time_(time) {}
  explicit operator bool() const { return time_ != kNone; }
  Clock::time_point operator*() const { return time_; }

 private:
  static constexpr Clock::time_point kNone = Clock::time_point::min();
  Clock::time_point time_ = kNone;
};

/// The outcome of a job in one collection.
enum class Outcome : unsigned char {
  unwanted,  ///< no scrape of this collection wants its collector: not started, not reported
  pending,   ///< not finished yet, or never started before the deadline
  done,      ///< its samples are served
  late,      ///< timed out: left out, and its result is dropped when it arrives
  busy,      ///< inside a run of an earlier collection, or behind stuck runs of its owner: not started
  back_off,  ///< has timed out repeatedly: not retried yet
};

/// The state of one job that is kept from collection to collection. Guarded by Shared::mutex.
class Slot {
 public:
  /// `owner` is charged with the job's runs.
  explicit Slot(PlannedJob planned, std::shared_ptr<task::Owner> owner = nullptr);

  core::Job& job() const { return *planned_.job; }
  const std::shared_ptr<task::Owner>& owner() const { return owner_; }
  /// `collector="...",device="..."`. Rendered at each call: only the slowest job of a collection and those
  /// that have failed are named.
  std::string labels() const;
  std::chrono::milliseconds timeout() const { return planned_.timeout; }
  /// The number of its device among those that are planned, which share a limit of series; 0: the host.
  std::size_t device_number() const { return device_number_; }
  void set_device_number(std::size_t number) { device_number_ = number; }

  /// Whether a run may start now: pending, or the reason why not (busy, back_off).
  Outcome admit(Clock::time_point now) const;
  void started(Clock::time_point now);
  /// Notes that the run has returned, in time or not.
  void ended(Clock::time_point now, bool in_time);
  /// Adds the run's error counts to the totals.
  void fold(const core::JobRun& run);
  /// Takes over the totals of a previous job of the same collector and device.
  void inherit(const Slot& earlier);

  /// When the run in progress started.
  Moment running_since() const { return started_; }

  /// Error counts since the job was first seen, by reason. Valid until the next fold().
  core::RareCounts::List read_errors() const { return read_errors_.all(); }
  core::RareCounts::List dropped() const { return dropped_.all(); }

 private:
  PlannedJob planned_;
  std::shared_ptr<task::Owner> owner_;
  std::size_t device_number_ = 0;
  Moment started_;
  task::Backoff backoff_;  ///< after timeouts
  core::RareCounts read_errors_;
  core::RareCounts dropped_;
};

}  // namespace rdma_exporter::scrape
