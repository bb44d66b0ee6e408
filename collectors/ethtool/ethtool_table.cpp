// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/ethtool/ethtool_table.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "collectors/ethtool/driver_tables.h"

namespace rdma_exporter::collectors {
namespace {

using ethtool_table::driver_tables;
using ethtool_table::DriverTable;

constexpr std::array kFamilies{&kPfcFrames,
                               &kPfcPauseSeconds,
                               &kPfcTransitions,
                               &kPauseSeconds,
                               &kPauseTransitions,
                               &kPauseStormEvents,
                               &kPriorityBytes,
                               &kPriorityPackets,
                               &kPriorityDiscards,
                               &kPriorityEcnMarked,
                               &kNetdevDiscards,
                               &kReceiveBufferThresholdEvents,
                               &kNetdevPcsSymbolErrors,
                               &kLaneBitErrors,
                               &kPcieStalled,
                               &kPcieStallSeconds,
                               &kPcieSignalIntegrityErrors,
                               &kNetdevRaw,
                               &kNetdevRawValue};
static_assert(std::all_of(kFamilies.begin(), kFamilies.end(),
                          [](const core::MetricDesc* family) { return core::valid(*family); }));

// mlx5, ena: shares and states.
constexpr std::array<std::string_view, 5> kGauges{"outbound_pci_stalled_rd", "outbound_pci_stalled_wr",
                                                  "conntrack_allowance_available", "ena_srd_mode",
                                                  "ena_srd_resource_utilization"};

/// A table with one row per digit, and the strings of these rows.
struct Expanded {
  std::vector<CounterRow> rows;
  std::deque<std::string> texts;  // a deque, because its strings do not move
};

std::string with_digit(std::string_view pattern, char digit) {
  std::string text(pattern);
  std::replace(text.begin(), text.end(), '#', digit);
  return text;
}

Expanded expand(std::span<const CounterRow> rows) {
  Expanded expanded;
  for (const CounterRow& row : rows) {
    if (row.raw.find('#') == std::string_view::npos) {
      expanded.rows.push_back(row);
      continue;
    }
    for (char digit = '0'; digit <= '7'; ++digit) {
      CounterRow& one = expanded.rows.emplace_back(row);
      one.raw = expanded.texts.emplace_back(with_digit(row.raw, digit));
      one.labels = expanded.texts.emplace_back(with_digit(row.labels, digit));
    }
  }
  expanded.rows.shrink_to_fit();
  return expanded;
}

}  // namespace

std::span<const core::MetricDesc* const> ethtool_families() { return kFamilies; }

std::span<const CounterRow> ethtool_rows(std::string_view driver) {
  static const std::span<const DriverTable> tables = driver_tables();
  // Of the drivers that this host has. Never destroyed: a thread whose device hangs may still use them when
  // the process ends.
  static auto& expanded = *new std::map<std::string_view, Expanded>;
  static auto& mutex = *new std::mutex;
  // A sub-function has a driver of its own: "mlx5_core.sf".
  driver = driver.substr(0, driver.find('.'));
  const auto table = std::find_if(tables.begin(), tables.end(),
                                  [&](const DriverTable& known) { return known.driver == driver; });
  if (table == tables.end()) return {};
  const std::lock_guard lock(mutex);
  auto known = expanded.find(table->driver);
  if (known == expanded.end()) known = expanded.emplace(table->driver, expand(table->rows)).first;
  return known->second.rows;
}

bool is_ethtool_gauge(std::string_view raw, host::Driver /*driver*/) {
  return std::find(kGauges.begin(), kGauges.end(), raw) != kGauges.end();
}

std::vector<CounterTable> ethtool_tables() {
  std::vector<CounterTable> tables;
  for (const DriverTable& table : driver_tables()) tables.push_back({"ethtool -S", table.driver, table.rows});
  return tables;
}

}  // namespace rdma_exporter::collectors
