// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "collectors/collector.h"
#include "collectors/collector_set.h"
#include "commands/tasks.h"
#include "config/config.h"
#include "core/metric.h"
#include "host/host.h"

namespace rdma_exporter::commands {

/// A sample that is not on a page.
struct Reading {
  const core::MetricDesc* metric;
  std::string labels;  ///< rendered, as on the page
  double value;
};

/// Value of a label in a rendered block, escaped as it is there; empty if the label is missing.
std::string label_value(std::string_view labels, std::string_view name);

/// Some collectors of the exporter without its engine, for commands that need their values once or twice. A
/// job that has not returned is not run again. One thread.
class Survey {
 public:
  /// All references must outlive it and whatever it has started: see run_until(). Jobs run on `background`.
  /// The background readings of collectors run on another pool, `passes`: jobs wait for them, so they must
  /// not queue behind jobs.
  Survey(host::Host& host, const config::Config& config, std::span<const std::string_view> collectors,
         task::Background& background, task::Background& passes);

  /// The samples of all jobs that finish before `deadline`.
  std::vector<Reading> collect(Deadline deadline);

 private:
  task::Background& background_;
  collectors::Context context_;
  collectors::CollectorSet set_;
  bool found_ = false;
  std::set<const core::Job*> late_;
  std::uint64_t cycle_ = 0;
};

}  // namespace rdma_exporter::commands
