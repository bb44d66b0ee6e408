// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// The tables of driver statistics, helpers to write their rows, and compile-time checks of them. A `#` in a
// name stands for a digit from 0 to 7, a priority or lane, as does the `#` in the row's labels.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "collectors/counters/tables/counter_row.h"
#include "collectors/counters/tables/row.h"
#include "collectors/ethtool/ethtool_table.h"

namespace rdma_exporter::collectors::ethtool_table {

inline constexpr std::string_view kRx = R"(direction="rx")";
inline constexpr std::string_view kTx = R"(direction="tx")";
inline constexpr std::string_view kRxPriority = R"(priority="#",direction="rx")";
inline constexpr std::string_view kTxPriority = R"(priority="#",direction="tx")";
inline constexpr std::string_view kRxAllPriorities = R"(priority="all",direction="rx")";
inline constexpr std::string_view kTxAllPriorities = R"(priority="all",direction="tx")";

inline constexpr std::string_view kRxPortBuffer = R"(direction="rx",reason="port_buffer")";
inline constexpr std::string_view kRxPort = R"(direction="rx",reason="port")";
inline constexpr std::string_view kRxNoReceiveBuffer = R"(direction="rx",reason="no_receive_buffer")";
inline constexpr std::string_view kRxNoMemory = R"(direction="rx",reason="no_memory")";
inline constexpr std::string_view kRxPcieBuffer = R"(direction="rx",reason="pcie_buffer")";
inline constexpr std::string_view kRxOversize = R"(direction="rx",reason="oversize")";
inline constexpr std::string_view kRxNoRule = R"(direction="rx",reason="no_rule")";
inline constexpr std::string_view kRxInterfaceDown = R"(direction="rx",reason="interface_down")";
inline constexpr std::string_view kRxInternalQueue = R"(direction="rx",reason="internal_queue")";
inline constexpr std::string_view kTxPort = R"(direction="tx",reason="port")";
inline constexpr std::string_view kTxLinkDown = R"(direction="tx",reason="link_down")";
inline constexpr std::string_view kTxRing = R"(direction="tx",reason="ring")";

inline constexpr std::string_view kWarning = R"(level="warning")";
inline constexpr std::string_view kError = R"(level="error")";

constexpr CounterRow curated(std::string_view raw, const core::MetricDesc& family,
                             std::string_view labels = {}) {
  return {raw, &family, labels};
}
/// The driver counts microseconds.
constexpr CounterRow microseconds(std::string_view raw, const core::MetricDesc& family,
                                  std::string_view labels) {
  return {raw, &family, labels, 1, 64, 1'000'000};
}
/// A value from 0 to 100.
constexpr CounterRow percent(std::string_view raw, const core::MetricDesc& family, std::string_view labels) {
  return {raw, &family, labels, 1, 64, 100};
}
/// A statistic that deliberately has no vendor-neutral name; the comment beside it gives the reason.
constexpr CounterRow raw_only(std::string_view raw) { return {raw}; }

constexpr bool valid(const CounterRow& row) {
  const auto placeholders = [](std::string_view text) { return std::count(text.begin(), text.end(), '#'); };
  if (row.raw.empty() || row.raw.size() > 32 || placeholders(row.raw) > 1) return false;
  if (row.metric == nullptr) return row.labels.empty() && row.divisor == 1;
  if (placeholders(row.raw) != placeholders(row.labels)) return false;
  const bool gauge = row.metric->type == core::MetricType::gauge;
  const bool unit = row.divisor == 1 || (row.divisor == 1'000'000 && row.metric->unit == "seconds") ||
                    (row.divisor == 100 && row.metric->unit == "ratio");
  return row.scale == 1 && row.bits == 64 && unit && gauge == (row.metric->unit == "ratio") &&
         table::labels_agree(*row.metric, row.labels, "device,port,netdev");
}

/// Each row is valid, and each statistic has one row.
template <typename Table>
constexpr bool all_valid(const Table& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!valid(rows[i])) return false;
    for (std::size_t j = 0; j < i; ++j)
      if (rows[i].raw == rows[j].raw) return false;
  }
  return true;
}

using table::count_summed;

struct DriverTable {
  std::string_view driver;  ///< of the PCI function or sub-function
  std::span<const CounterRow> rows;
};
std::span<const DriverTable> driver_tables();

}  // namespace rdma_exporter::collectors::ethtool_table
