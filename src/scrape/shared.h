// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/histogram.h"
#include "scrape/job_source.h"
#include "scrape/slot.h"
#include "scrape/worker_pool.h"

namespace rdma_exporter::scrape {

/// What all collections of one engine share. Owned jointly by the engine and the collections, because a run
/// that is stuck in the kernel outlives its collection and perhaps the engine.
struct Shared {
  Shared(JobSource& job_source, unsigned max_workers, std::size_t max_series_per_device)
      : source(job_source),
        series_per_device(max_series_per_device),
        pool(max_workers),
        durations(kDurationBounds) {}

  /// Seconds. A host in order takes milliseconds; from a second on something is stuck.
  static constexpr std::array kDurationBounds{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                              0.1,    0.25,  0.5,    1.0,   2.5,  5.0,   10.0};

  JobSource& source;
  const std::size_t series_per_device;
  WorkerPool pool;
  core::Histogram durations;  ///< of collections

  std::mutex mutex;  ///< guards everything below and the state of the runs of all collections
  std::shared_ptr<Slot> discovery;
  std::shared_ptr<const PlannedJobs> planned;  ///< what `slots` was made from
  std::vector<std::shared_ptr<Slot>> slots;
  std::map<const Owner*, std::size_t> stuck;  ///< runs that are out of their time and have not returned
  std::map<std::string, std::weak_ptr<Owner>, std::less<>> owners;  ///< by device

  /// A device that is registered anew while reads of the old one are stuck goes on with their account.
  std::shared_ptr<Owner> owner_of(const core::Job& job);
  /// Whether so much is stuck that a run of this owner would not be started.
  bool is_blocked(const Owner& owner) const;
  void count_stuck(const Owner* owner);
  void count_returned(const Owner* owner);
};

}  // namespace rdma_exporter::scrape
