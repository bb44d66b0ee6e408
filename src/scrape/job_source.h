// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "core/job.h"
#include "core/result.h"

namespace rdma_exporter::scrape {

/// A job, and how long one run of it may take before the scrape continues without it.
struct PlannedJob {
  std::shared_ptr<core::Job> job;
  std::chrono::milliseconds timeout;
};

using PlannedJobs = std::vector<PlannedJob>;

/// Provides the jobs to run. The jobs of a device are the same objects for as long as the device exists.
class JobSource {
 public:
  virtual ~JobSource() = default;
  /// Called on a worker at the start of each collection, by one thread at a time; may block. Returns the same
  /// vector while nothing has changed. After an error the jobs of the last collection are run. Devices that
  /// cannot be reached are counted in `run`.
  virtual core::Result<std::shared_ptr<const PlannedJobs>> jobs(core::JobRun& run) = 0;
};

}  // namespace rdma_exporter::scrape
