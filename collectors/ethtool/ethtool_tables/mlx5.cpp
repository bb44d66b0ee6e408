// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// drivers/net/ethernet/mellanox/mlx5/core/en_stats.c; meanings and units: Documentation/networking/
// device_drivers/ethernet/mellanox/mlx5/counters.rst. Pause statistics of a priority are listed only while
// PFC is on for it, global pause only while that is on. Port statistics cover the wire with all its
// functions; a virtual function does not have them.
#include <array>

#include "collectors/ethtool/ethtool_tables/row.h"
#include "collectors/ethtool/ethtool_tables/tables.h"

namespace rdma_exporter::collectors::ethtool_table {
namespace {

constexpr std::array kRows{
    curated("rx_prio#_pause", kPfcFrames, kRxPriority),
    curated("tx_prio#_pause", kPfcFrames, kTxPriority),
    microseconds("rx_prio#_pause_duration", kPfcPauseSeconds, kRxPriority),
    microseconds("tx_prio#_pause_duration", kPfcPauseSeconds, kTxPriority),
    curated("rx_prio#_pause_transition", kPfcTransitions, kRxPriority),

    curated("rx_global_pause", kNetdevPauseFrames, kRx),
    curated("tx_global_pause", kNetdevPauseFrames, kTx),
    microseconds("rx_global_pause_duration", kPauseSeconds, kRx),
    microseconds("tx_global_pause_duration", kPauseSeconds, kTx),
    curated("rx_global_pause_transition", kPauseTransitions, kRx),
    raw_only("rx_pause_ctrl_phy"),  // the same frames, as counted by the 802.3 MIB
    raw_only("tx_pause_ctrl_phy"),
    curated("tx_pause_storm_warning_events", kPauseStormEvents, kWarning),
    curated("tx_pause_storm_error_events", kPauseStormEvents, kError),

    curated("rx_prio#_bytes", kPriorityBytes, kRxPriority),
    curated("tx_prio#_bytes", kPriorityBytes, kTxPriority),
    curated("rx_prio#_packets", kPriorityPackets, kRxPriority),
    curated("tx_prio#_packets", kPriorityPackets, kTxPriority),
    curated("rx_prio#_discards", kPriorityDiscards, R"(priority="#",direction="rx",reason="port_buffer")"),
    curated("rx_prio#_buf_discard", kPriorityDiscards, R"(priority="#",direction="rx",reason="host_buffer")"),
    curated("rx_prio#_cong_discard", kPriorityDiscards, R"(priority="#",direction="rx",reason="congestion")"),
    curated("rx_prio#_marked", kPriorityEcnMarked, kRxPriority),

    curated("rx_discards_phy", kNetdevDiscards, kRxPortBuffer),
    curated("tx_discards_phy", kNetdevDiscards, kTxPort),
    curated("rx_out_of_buffer", kNetdevDiscards, kRxNoReceiveBuffer),  // Ethernet queues only
    curated("rx_oversize_pkts_buffer", kNetdevDiscards, kRxOversize),
    curated("outbound_pci_buffer_overflow", kNetdevDiscards, kRxPcieBuffer),
    curated("rx_steer_missed_packets", kNetdevDiscards, kRxNoRule),
    curated("rx_if_down_packets", kNetdevDiscards, kRxInterfaceDown),
    curated("dev_internal_queue_oob", kNetdevDiscards, kRxInternalQueue),
    curated("rx_buffer_passed_thres_phy", kReceiveBufferThresholdEvents),

    curated("rx_corrected_bits_phy", kNetdevFecCorrectedBitErrors),
    curated("rx_pcs_symbol_err_phy", kNetdevPcsSymbolErrors),
    raw_only("rx_symbol_err_phy"),  // frames with symbol errors (802.3), not symbols
    curated("rx_err_lane_#_phy", kLaneBitErrors, R"(lane="#")"),
    curated("link_down_events_phy", kNetdevLinkDownEvents),

    // port_rcv_data and similar counters cover the same traffic of the function.
    raw_only("rx_vport_rdma_unicast_bytes"),
    raw_only("tx_vport_rdma_unicast_bytes"),
    raw_only("rx_vport_rdma_multicast_bytes"),
    raw_only("tx_vport_rdma_multicast_bytes"),
    raw_only("rx_vport_rdma_unicast_packets"),
    raw_only("tx_vport_rdma_unicast_packets"),
    raw_only("rx_vport_rdma_multicast_packets"),
    raw_only("tx_vport_rdma_multicast_packets"),

    percent("outbound_pci_stalled_rd", kPcieStalled, R"(operation="read")"),
    percent("outbound_pci_stalled_wr", kPcieStalled, R"(operation="write")"),
    curated("outbound_pci_stalled_rd_events", kPcieStallSeconds, R"(operation="read")"),
    curated("outbound_pci_stalled_wr_events", kPcieStallSeconds, R"(operation="write")"),
    curated("rx_pci_signal_integrity", kPcieSignalIntegrityErrors, kRx),
    curated("tx_pci_signal_integrity", kPcieSignalIntegrityErrors, kTx),
};
static_assert(all_valid(kRows));
static_assert(count_addends(kRows) == 0);

}  // namespace

std::span<const CounterRow> mlx5() { return kRows; }

}  // namespace rdma_exporter::collectors::ethtool_table
