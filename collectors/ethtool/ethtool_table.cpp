// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/ethtool/ethtool_table.h"

#include <algorithm>
#include <array>
#include <deque>
#include <string>

#include "collectors/ethtool/ethtool_tables/tables.h"

namespace rdma_exporter::collectors {
namespace {

using Table = std::span<const CounterRow> (*)();

struct DriverTable {
  std::string_view driver;  ///< of the PCI function or sub-function
  Table table;
};

constexpr std::array kTables{
    DriverTable{"mlx5_core", ethtool_table::mlx5}, DriverTable{"bnxt_en", ethtool_table::bnxt},
    DriverTable{"ice", ethtool_table::ice},        DriverTable{"i40e", ethtool_table::i40e},
    DriverTable{"ionic", ethtool_table::ionic},    DriverTable{"hns3", ethtool_table::hns3},
    DriverTable{"mlx4_core", ethtool_table::mlx4}, DriverTable{"cxgb4", ethtool_table::cxgb4},
    DriverTable{"qede", ethtool_table::qede},      DriverTable{"mana", ethtool_table::mana},
    DriverTable{"ena", ethtool_table::ena},
};

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
  return expanded;
}

}  // namespace

std::span<const CounterRow> ethtool_rows(std::string_view driver) {
  static const std::array<Expanded, kTables.size()> expanded = [] {
    std::array<Expanded, kTables.size()> all;
    std::transform(kTables.begin(), kTables.end(), all.begin(),
                   [](const DriverTable& table) { return expand(table.table()); });
    return all;
  }();
  // A sub-function has a driver of its own: "mlx5_core.sf".
  driver = driver.substr(0, driver.find('.'));
  for (std::size_t i = 0; i < kTables.size(); ++i)
    if (kTables[i].driver == driver) return expanded[i].rows;
  return {};
}

bool is_ethtool_gauge(std::string_view raw, host::Driver /*driver*/) {
  return std::find(kGauges.begin(), kGauges.end(), raw) != kGauges.end();
}

std::vector<CounterTable> ethtool_tables() {
  std::vector<CounterTable> tables;
  for (const DriverTable& table : kTables) tables.push_back({"ethtool -S", table.driver, table.table()});
  return tables;
}

}  // namespace rdma_exporter::collectors
