// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// The collectors' output for a host that is a tree of files.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "collectors/collector_set.h"
#include "core/job.h"

namespace rdma_exporter::test {

/// Collectors on one tree (SYSFS_ROOT as --path.sysfs takes it), collected as often as wanted.
class TreeHost {
 public:
  explicit TreeHost(const std::string& sysfs_root,
                    std::span<const collectors::CollectorSpec* const> specs = collectors::all_collectors());

  /// One collection. The batches live until the next one.
  const std::vector<std::unique_ptr<core::JobRun>>& collect();
  /// The same as `name{labels}` -> printed value.
  std::map<std::string, std::string> page();

 private:
  host::Host host_;
  collectors::Context context_{.host = host_, .metrics = {.set = core::MetricSet::full}};
  collectors::CollectorSet collectors_;
  std::vector<std::unique_ptr<core::JobRun>> runs_;
  std::uint64_t cycle_ = 0;
};

/// Roots of all recordings and of a synthetic host of each driver, by a short name.
std::map<std::string, std::string> all_trees();

/// Families of the collectors, in the order of the page.
std::vector<const core::MetricDesc*> collector_families();

}  // namespace rdma_exporter::test
