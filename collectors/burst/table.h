// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "collectors/burst/source.h"
#include "collectors/counters/tables/counter_row.h"

namespace rdma_exporter::collectors {

/// What is sampled of a table of kernel counters: series, and the counters that feed them.
struct BurstTable {
  std::vector<BurstSignal> signals;
  std::vector<std::pair<std::string_view, BurstCounter>> counters;  ///< by the kernel's name

  /// nullptr: that counter is not sampled.
  const BurstCounter* find(std::string_view raw) const;
};

/// The rows that are bytes, marks and notifications of congestion, missing buffers, or pause of single
/// priorities, but for those families that `left_out` names.
BurstTable burst_table(std::span<const CounterRow> rows,
                       const std::function<bool(const core::MetricDesc&)>& left_out = nullptr);

}  // namespace rdma_exporter::collectors
