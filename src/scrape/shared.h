// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "scrape/job_source.h"
#include "scrape/slot.h"
#include "scrape/worker_pool.h"

namespace rdma_exporter::scrape {

/// What all collections of one engine share. Owned jointly by the engine and the collections, because a run that
/// is stuck in the kernel outlives its collection and perhaps the engine.
struct Shared {
  Shared(JobSource& job_source, unsigned max_workers) : source(job_source), pool(max_workers) {}

  JobSource& source;
  WorkerPool pool;

  std::mutex mutex;  ///< guards everything below and the state of the runs of all collections
  std::shared_ptr<Slot> discovery;
  std::shared_ptr<const PlannedJobs> planned;  ///< what `slots` was made from
  std::vector<std::shared_ptr<Slot>> slots;
};

}  // namespace rdma_exporter::scrape
