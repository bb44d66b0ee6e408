// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "scrape/job_source.h"
#include "scrape/slot.h"
#include "scrape/worker_pool.h"

namespace rdma_exporter::scrape {

/// What all collections of one engine share. Owned jointly by the engine and the collections, because a run
/// that is stuck in the kernel outlives its collection and perhaps the engine.
struct Shared {
  Shared(JobSource& job_source, unsigned max_workers, std::size_t max_series_per_device)
      : source(job_source), series_per_device(max_series_per_device), pool(max_workers) {}

  JobSource& source;
  const std::size_t series_per_device;
  WorkerPool pool;

  std::mutex mutex;  ///< guards everything below and the state of the runs of all collections
  std::shared_ptr<Slot> discovery;
  std::shared_ptr<const PlannedJobs> planned;  ///< what `slots` was made from
  std::vector<std::shared_ptr<Slot>> slots;
};

}  // namespace rdma_exporter::scrape
