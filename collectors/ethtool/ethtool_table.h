// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "collectors/collector.h"
#include "collectors/counters/tables/counter_row.h"
#include "host/topology/driver.h"

namespace rdma_exporter::collectors {

/// How the statistics of a network interface are exported. `driver` is the name in sysfs device/driver:
/// "mlx5_core", "bnxt_en". Empty for drivers without known statistics: all of theirs are raw.
std::span<const CounterRow> ethtool_rows(std::string_view driver);

/// Whether a statistic is a value that may decrease.
bool is_ethtool_gauge(std::string_view raw, host::Driver driver);

/// All tables as they are written; `#` stands for a digit from 0 to 7.
std::vector<CounterTable> ethtool_tables();

}  // namespace rdma_exporter::collectors
