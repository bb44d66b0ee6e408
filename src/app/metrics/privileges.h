// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "config/config.h"
#include "core/metric.h"
#include "core/sample_batch.h"
#include "host/privileges.h"

namespace rdma_exporter::app {

/// Which privileges this process lacks, as metrics and as one line in the log. Thread-safe.
class Privileges {
 public:
  /// Looks at the running kernel; says so in the log when something else is missing than before. May block.
  void check(const config::Config& config);
  void set(const std::vector<host::MissingPrivilege>& missing);
  void add(core::SampleBatch& out) const;
  std::vector<host::MissingPrivilege> missing() const;

  static std::vector<const core::MetricDesc*> families();

 private:
  mutable std::mutex mutex_;
  std::vector<host::MissingPrivilege> missing_;
};

}  // namespace rdma_exporter::app
