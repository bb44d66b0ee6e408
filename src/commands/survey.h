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

/// A sample outside of a page.
struct Reading {
  const core::MetricDesc* metric;
  std::string labels;  ///< rendered, as on the page
  double value;
};

/// Value of a label in a rendered block; empty if it has none. As it is escaped in the block.
std::string label_value(std::string_view labels, std::string_view name);

/// Some collectors of the exporter without its engine: for a command that wants their values once or twice. A
/// job that has not come back is not asked again. One thread.
class Survey {
 public:
  /// All references outlive it, and what it has started: see run_until().
  Survey(host::Host& host, const config::Config& config, std::span<const std::string_view> collectors,
         core::Background& background);

  /// What all jobs say that answer before `deadline`.
  std::vector<Reading> collect(Deadline deadline);

 private:
  core::Background& background_;
  collectors::Context context_;
  collectors::CollectorSet set_;
  bool found_ = false;
  std::set<const core::Job*> late_;
  std::uint64_t cycle_ = 0;
};

}  // namespace rdma_exporter::commands
