// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "core/job.h"
#include "core/result.h"

namespace rdma_exporter::scrape {

/// A job and how long one run of it may take before the scrape goes on without it.
struct PlannedJob {
  std::shared_ptr<core::Job> job;
  std::chrono::milliseconds timeout;
};

using PlannedJobs = std::vector<PlannedJob>;

/// Says what there is to collect. The jobs of a device stay the same objects for as long as the device does.
class JobSource {
 public:
  virtual ~JobSource() = default;
  /// Called on a worker at the start of each collection, by one thread at a time; may block. The same vector
  /// is returned while nothing has changed. On error the jobs of the last collection are run. Devices that
  /// cannot be reached are counted in `run`.
  virtual core::Result<std::shared_ptr<const PlannedJobs>> jobs(core::JobRun& run) = 0;
};

}  // namespace rdma_exporter::scrape
