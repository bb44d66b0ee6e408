// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <span>

#include "collectors/counters/tables/counter_row.h"
#include "core/metric.h"
#include "host/topology/driver.h"

namespace rdma_exporter::collectors {

/// The 21 files of ports/N/counters, each with a curated family. `bits` is the width at which the field
/// sticks. Traffic is assumed to be 64 bits wide: old adapters without extended counters have 32, but the
/// files do not show it.
std::span<const CounterRow> pma_rows();

/// The same for a port of that driver. Traffic files have no family if pma_traffic_is_curated() is false.
std::span<const CounterRow> pma_rows(host::Driver driver);

/// Whether the traffic files (data, packets, unicast, multicast) feed the curated families. False for drivers
/// whose hw_counters already do: no series may exist twice, and the two may count different traffic.
bool pma_traffic_is_curated(host::Driver driver);

/// Every family that ports/N/counters can feed; the raw one and rdma_port_counters_saturated come last.
std::span<const core::MetricDesc* const> pma_families();

/// Whether the family counts something that only an InfiniBand link has (symbols, link training, virtual lane
/// 15, partition keys, credits). On RoCE the field is 0 or missing, and the interface's families have the
/// equivalent.
bool counts_infiniband_link(const core::MetricDesc& family);
/// The same for the family of a file.
bool is_infiniband_link_counter(std::string_view file);

}  // namespace rdma_exporter::collectors
