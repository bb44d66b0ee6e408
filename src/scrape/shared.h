// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/histogram.h"
#include "core/job.h"
#include "scrape/job_source.h"
#include "scrape/slot.h"
#include "task/pool.h"

namespace rdma_exporter::scrape {

struct RunGroup;

/// The state that all collections of one engine share. Owned jointly by the engine and the collections,
/// because a run that is stuck in the kernel outlives its collection and perhaps the engine.
struct Shared {
  Shared(JobSource& job_source, unsigned max_workers, std::size_t max_series_per_device,
         core::MetricSet exported)
      : source(job_source),
        series_per_device(max_series_per_device),
        set(exported),
        pool({.max_workers = max_workers, .waits_in_kernel = task::is_asleep}),
        durations(kDurationBounds) {}

  /// Bucket bounds in seconds. A healthy host takes milliseconds; from one second on, something is stuck.
  static constexpr std::array kDurationBounds{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                              0.1,    0.25,  0.5,    1.0,   2.5,  5.0,   10.0};

  JobSource& source;
  const std::size_t series_per_device;
  const core::MetricSet set;
  task::Pool pool;
  core::Histogram durations;  ///< durations of collections

  std::mutex mutex;  ///< guards everything below, and the state of the runs of all collections
  std::shared_ptr<Slot> discovery;
  std::shared_ptr<const PlannedJobs> planned;  ///< the jobs that `slots` was made from
  std::vector<std::shared_ptr<Slot>> slots;
  std::vector<std::shared_ptr<RunGroup>> spare_groups;  ///< of the last collection, for the next one
  std::map<const task::Owner*, std::size_t> stuck;      ///< runs that have timed out and not returned
  std::map<std::string, std::weak_ptr<task::Owner>, std::less<>> owners;  ///< by device

  std::map<std::string, std::uint64_t, std::less<>>
      timeouts;  ///< by collector; has an entry for each collector that runs

  /// Returns the owner of a device. A device that is registered again while reads of the old registration are
  /// stuck keeps the same owner.
  std::shared_ptr<task::Owner> owner_of(const core::Job& job);
  /// Whether so many runs of this owner are stuck that another one would not be started.
  bool is_blocked(const task::Owner& owner) const;
  void count_timeout(const core::Job& job);
  void count_stuck(const task::Owner* owner);
  void count_returned(const task::Owner* owner);
};

}  // namespace rdma_exporter::scrape
