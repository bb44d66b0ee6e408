// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "collectors/counters/counter_row.h"
#include "core/metric.h"
#include "host/topology/driver.h"

namespace rdma_exporter::collectors {

/// What the driver's counters of a port (ports/N/hw_counters, netlink STAT_GET) are exported as. Empty for
/// drivers without known counters: all of theirs are raw.
std::span<const CounterRow> port_hw_rows(host::Driver driver);

/// The same for the counters of a device (hw_counters). All are raw: curated families are per port, and a
/// device's counter belongs to none or repeats what the ports count. The rows hold the widths.
std::span<const CounterRow> device_hw_rows(host::Driver driver);

/// Whether `raw` is another spelling, of a newer kernel or of switchdev mode, for a counter with a row of its
/// own. A port has one spelling or the other: such a row stands for its twin, it is no further addend of the
/// series.
bool is_other_spelling(std::string_view raw, host::Driver driver);

/// The driver whose table has at least four fifths of a port's counters and three that no other one has; of
/// several the one that has most, unknown when there is none.
host::Driver driver_of_counters(std::span<const std::string> names);

/// Every family that hw_counters can become, the raw ones last.
std::span<const core::MetricDesc* const> hw_families();

}  // namespace rdma_exporter::collectors
