// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <span>

#include "collectors/counters/counter_row.h"
#include "core/metric.h"
#include "host/topology/driver.h"

namespace rdma_exporter::collectors {

/// The 21 files of ports/N/counters, each with a curated family. `bits` is the width at which the field
/// sticks. Traffic is taken as 64 bits wide: old adapters without extended counters have 32, which the files
/// do not tell.
std::span<const CounterRow> pma_rows();

/// The same for a port of that driver: its traffic files without a family where pma_traffic_is_curated() is
/// false.
std::span<const CounterRow> pma_rows(host::Driver driver);

/// Whether the traffic files (data, packets, unicast, multicast) feed the curated families. False for drivers
/// whose hw_counters do so already: no series may exist twice, and the two may count different traffic.
bool pma_traffic_is_curated(host::Driver driver);

/// Every family that the counters of ports/N/counters can become, the raw one and rdma_counters_saturated
/// last.
std::span<const core::MetricDesc* const> pma_families();

}  // namespace rdma_exporter::collectors
