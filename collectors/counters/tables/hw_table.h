// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "collectors/counters/tables/counter_row.h"
#include "core/metric.h"
#include "host/topology/driver.h"

namespace rdma_exporter::collectors {

/// How the driver's port counters (ports/N/hw_counters, netlink STAT_GET) are exported. Empty for drivers
/// without known counters: all of theirs are raw.
std::span<const CounterRow> port_hw_rows(host::Driver driver);

/// The same for the device's counters (hw_counters). All are raw: curated families are per port, and a
/// device's counter belongs to no port or repeats what the ports count. The rows define the widths.
std::span<const CounterRow> device_hw_rows(host::Driver driver);

/// Whether `raw` is an alternative spelling (in a newer kernel, or in switchdev mode) of a counter that has a
/// row of its own. A port has only one of the two spellings, so such a row replaces its twin and is not
/// another counter to sum.
bool is_other_spelling(std::string_view raw, host::Driver driver);

/// The driver whose table has at least four fifths of a port's counters and three that no other table has; of
/// several, the one with the most; unknown if there is none.
host::Driver driver_of_counters(std::span<const std::string> names);

/// Whether the family counts something that only RoCE has: congestion notification, the checksum of its own
/// header, adaptive retransmission. On an InfiniBand port the driver has the counter, but it stays 0.
bool counts_roce_only(const core::MetricDesc& family);

/// Every family that hw_counters can feed, the raw ones last.
std::span<const core::MetricDesc* const> hw_families();

/// Whether a hw counter of that driver is a value that may decrease (a current number, a rate, a register) or
/// a high-water mark. For Driver::unknown, a name counts as a gauge if it is one with any driver.
bool is_gauge(std::string_view raw, host::Driver driver);

}  // namespace rdma_exporter::collectors
