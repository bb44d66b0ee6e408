// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/metric.h"
#include "core/sample_batch.h"
#include "scrape/slot.h"

namespace rdma_exporter::scrape {

/// What a page reports about the jobs of a collection: one series per collector if all is well, and one per
/// device for problems.
class JobReport {
 public:
  using Totals = std::map<std::string, std::uint64_t, std::less<>>;

  /// `timeouts` are the totals so far, by collector.
  explicit JobReport(const Totals& timeouts) : timeouts_(timeouts) {}

  /// `taken` is the duration of the run, so far if it is stuck.
  void add(const Slot& slot, Outcome outcome, bool success, std::chrono::duration<double> taken);
  void write(core::SampleBatch& out) const;

  static std::span<const core::MetricDesc* const> families();

 private:
  struct Collector {
    std::string_view name;
    bool success = true;
    double seconds = 0;
  };

  Collector& collector(std::string_view name);

  const Totals& timeouts_;
  std::vector<Collector> collectors_;
  std::size_t last_ = 0;           ///< of collectors_, the one looked up last
  std::set<std::string> failing_;  ///< rendered labels
  Totals read_errors_;             ///< by rendered labels; interfaces of one device are merged
  Totals dropped_;
};

}  // namespace rdma_exporter::scrape
