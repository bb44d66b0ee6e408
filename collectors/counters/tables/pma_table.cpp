// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// drivers/infiniband/core/sysfs.c (PORT_PMA_ATTR), include/rdma/ib_pma.h: PortCounters and
// PortCountersExtended of the InfiniBand performance management agent. Fields narrower than 64 bits do not
// wrap; they stick at all ones until they are reset.
#include "collectors/counters/tables/pma_table.h"

#include <algorithm>
#include <array>
#include <vector>

#include "collectors/counters/tables/hw_table.h"
#include "collectors/counters/tables/port_families.h"
#include "collectors/counters/tables/row.h"

namespace rdma_exporter::collectors {
namespace {

using table::curated;
using table::kRx;
using table::kTx;

// The file counts 4-octet words, the series bytes.
constexpr CounterRow words(std::string_view raw, std::string_view labels) {
  return {raw, &kPortDataBytes, labels, 4, 64};
}

constexpr std::array kRows{
    words("port_rcv_data", kRx),
    words("port_xmit_data", kTx),
    curated("port_rcv_packets", kPortPackets, kRx),
    curated("port_xmit_packets", kPortPackets, kTx),
    curated("unicast_rcv_packets", kPortUnicastPackets, kRx),
    curated("unicast_xmit_packets", kPortUnicastPackets, kTx),
    curated("multicast_rcv_packets", kPortMulticastPackets, kRx),
    curated("multicast_xmit_packets", kPortMulticastPackets, kTx),
    curated("symbol_error", kPortSymbolErrors, {}, 16),
    curated("link_error_recovery", kPortLinkRecoveries, {}, 8),
    curated("link_downed", kPortLinkDowned, {}, 8),
    curated("port_rcv_errors", kPortReceiveErrors, {}, 16),
    curated("port_rcv_remote_physical_errors", kPortReceiveRemotePhysicalErrors, {}, 16),
    curated("port_rcv_switch_relay_errors", kPortReceiveSwitchRelayErrors, {}, 16),
    curated("port_xmit_discards", kPortTransmitDiscards, {}, 16),
    curated("port_rcv_constraint_errors", kPortConstraintErrors, kRx, 8),
    curated("port_xmit_constraint_errors", kPortConstraintErrors, kTx, 8),
    curated("local_link_integrity_errors", kPortLocalLinkIntegrityErrors, {}, 4),
    curated("excessive_buffer_overrun_errors", kPortExcessiveBufferOverrunErrors, {}, 4),
    curated("VL15_dropped", kPortVl15Dropped, {}, 16),
    curated("port_xmit_wait", kPortTransmitWaitTicks, {}, 32),
};
static_assert(kRows.size() == 21);
static_assert(table::all_valid(kRows));
static_assert(table::count_summed(kRows) == 0);

constexpr bool is_traffic(const core::MetricDesc* family) {
  return family == &kPortDataBytes || family == &kPortPackets || family == &kPortUnicastPackets ||
         family == &kPortMulticastPackets;
}

constexpr auto kRowsWithRawTraffic = [] {
  auto rows = kRows;
  for (CounterRow& row : rows)
    if (is_traffic(row.metric)) row = table::raw_only(row.raw, row.bits);
  return rows;
}();
static_assert(table::all_valid(kRowsWithRawTraffic));

}  // namespace

std::span<const CounterRow> pma_rows() { return kRows; }

std::span<const CounterRow> pma_rows(host::Driver driver) {
  if (pma_traffic_is_curated(driver)) return kRows;
  return kRowsWithRawTraffic;
}

bool pma_traffic_is_curated(host::Driver driver) {
  const auto rows = port_hw_rows(driver);
  return std::none_of(rows.begin(), rows.end(), [](const CounterRow& row) { return is_traffic(row.metric); });
}

bool counts_infiniband_link(const core::MetricDesc& family) {
  static constexpr std::array kFamilies{&kPortSymbolErrors,
                                        &kPortLinkRecoveries,
                                        &kPortLinkDowned,
                                        &kPortReceiveRemotePhysicalErrors,
                                        &kPortReceiveSwitchRelayErrors,
                                        &kPortConstraintErrors,
                                        &kPortLocalLinkIntegrityErrors,
                                        &kPortExcessiveBufferOverrunErrors,
                                        &kPortVl15Dropped,
                                        &kPortTransmitWaitTicks};
  return std::find(kFamilies.begin(), kFamilies.end(), &family) != kFamilies.end();
}

bool is_infiniband_link_counter(std::string_view file) {
  const auto row = std::find_if(kRows.begin(), kRows.end(), [&](const auto& r) { return r.raw == file; });
  return row != kRows.end() && counts_infiniband_link(*row->metric);
}

std::span<const core::MetricDesc* const> pma_families() {
  static const std::vector<const core::MetricDesc*> all = [] {
    auto families = families_of(kRows);
    families.insert(families.end(), {&kPortRaw, &kCounterSaturated});
    return families;
  }();
  return all;
}

}  // namespace rdma_exporter::collectors
