// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/metric.h"

namespace rdma_exporter::collectors {

/// How a kernel counter of one source (a driver's hw_counters, the PMA files, ethtool) is exported. Rows of a
/// table with the same metric and labels are summed into one series, which is added only if all of them were
/// read in the same cycle. A kernel counter without a row, or whose row has no metric, goes to the raw family
/// of its source.
struct CounterRow {
  std::string_view raw;                      ///< the kernel's name, verbatim
  const core::MetricDesc* metric = nullptr;  ///< curated family; nullptr: raw family
  std::string_view labels = {};              ///< labels after device and port, rendered: `direction="rx"`
  std::uint32_t scale = 1;                   ///< exported = kernel value x scale (4 for 4-octet words)
  std::uint8_t bits = 64;                    ///< width at which the kernel's value wraps (hw) or sticks (PMA)
  std::uint32_t divisor = 1;  ///< exported = kernel value / divisor (1,000,000 for microseconds)
};

/// The metrics that the counters of one source become, for --describe and the contract tests.
struct CounterTable {
  std::string_view source;  ///< "ports/N/counters", "ports/N/hw_counters", "hw_counters"
  std::string_view driver;  ///< "any", "mlx5", ...
  std::span<const CounterRow> rows;
};

}  // namespace rdma_exporter::collectors
