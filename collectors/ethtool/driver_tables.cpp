// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/ethtool/driver_tables.h"

#include <array>

namespace rdma_exporter::collectors::ethtool_table {
namespace {

// drivers/net/ethernet/broadcom/bnxt/bnxt_ethtool.c, bnxt_hsi.h. The port's statistics are those of the
// physical function. The adapter writes them to memory about once a second, so reading them needs no firmware
// command.
constexpr std::array kBnxt{
    curated("rx_pfc_ena_frames_pri#", kPfcFrames, kRxPriority),
    curated("tx_pfc_ena_frames_pri#", kPfcFrames, kTxPriority),
    microseconds("pfc_pri#_rx_duration_us", kPfcPauseSeconds, kRxPriority),
    microseconds("pfc_pri#_tx_duration_us", kPfcPauseSeconds, kTxPriority),
    curated("pfc_pri#_rx_transitions", kPfcTransitions, kRxPriority),
    curated("pfc_pri#_tx_transitions", kPfcTransitions, kTxPriority),
    raw_only("rx_pfc_frames"),  // a frame for several priorities counts once here, but in each of the above
    raw_only("tx_pfc_frames"),
    curated("rx_pause_frames", kNetdevPauseFrames, kRx),
    curated("tx_pause_frames", kNetdevPauseFrames, kTx),
    curated("continuous_pause_events", kPauseStormEvents, kWarning),
    curated("continuous_roce_pause_events", kPauseStormEvents, kError),  // PFC of the RoCE queue switched off
    raw_only("resume_pause_events"),                                     // the ends of the two above
    raw_only("resume_roce_pause_events"),

    // Counts of the queue to which the firmware maps the priority. The same queues by their own number stay
    // raw.
    curated("rx_bytes_pri#", kPriorityBytes, kRxPriority),
    curated("tx_bytes_pri#", kPriorityBytes, kTxPriority),
    curated("rx_packets_pri#", kPriorityPackets, kRxPriority),
    curated("tx_packets_pri#", kPriorityPackets, kTxPriority),

    curated("rx_stat_discard", kNetdevDiscards, kRxPort),
    curated("tx_stat_discard", kNetdevDiscards, kTxPort),
    curated("rx_total_ring_discards", kNetdevDiscards, kRxNoReceiveBuffer),
    curated("rx_total_oom_discards", kNetdevDiscards, kRxNoMemory),
    curated("tx_total_ring_discards", kNetdevDiscards, kTxRing),
    curated("rx_buffer_passed_threshold", kReceiveBufferThresholdEvents),

    curated("rx_corrected_bits", kNetdevFecCorrectedBitErrors),
    curated("rx_fec_corrected_blocks", kNetdevFecBlocks, R"(result="corrected")"),
    curated("rx_fec_uncorrectable_blocks", kNetdevFecBlocks, R"(result="uncorrectable")"),
    curated("rx_pcs_symbol_err", kNetdevSymbolErrors),
    curated("link_down_events", kNetdevLinkDownEvents),
};
static_assert(all_valid(kBnxt));
static_assert(count_summed(kBnxt) == 0);

// drivers/net/ethernet/chelsio/cxgb4/cxgb4_ethtool.c; names are without the driver's padding of blanks. The
// second half of its list ("octets_ok", "frames_dropped", ...) is the loopback port and stays raw.
constexpr std::array kCxgb4{
    curated("rx_ppp#_frames", kPfcFrames, kRxPriority),
    curated("tx_ppp#_frames", kPfcFrames, kTxPriority),
    curated("rx_pause_frames", kNetdevPauseFrames, kRx),
    curated("tx_pause_frames", kNetdevPauseFrames, kTx),
    curated("rx_bg0_frames_dropped", kNetdevDiscards, kRxPortBuffer),  // four groups of buffers of the port
    curated("rx_bg1_frames_dropped", kNetdevDiscards, kRxPortBuffer),
    curated("rx_bg2_frames_dropped", kNetdevDiscards, kRxPortBuffer),
    curated("rx_bg3_frames_dropped", kNetdevDiscards, kRxPortBuffer),
    curated("tx_frames_dropped", kNetdevDiscards, kTxPort),
    raw_only("rx_symbol_errors"),  // frames with symbol errors, not symbols
};
static_assert(all_valid(kCxgb4));
static_assert(count_summed(kCxgb4) == 4);

// drivers/net/ethernet/amazon/ena/ena_ethtool.c: the Ethernet counterpart of EFA. Traffic that exceeds an
// allowance of the instance is queued or dropped, so these are not discards.
constexpr std::array kEna{
    raw_only("bw_in_allowance_exceeded"),
    raw_only("bw_out_allowance_exceeded"),
    raw_only("pps_allowance_exceeded"),
    raw_only("conntrack_allowance_exceeded"),
    raw_only("linklocal_allowance_exceeded"),
    raw_only("conntrack_allowance_available"),  // a gauge, like the next two
    raw_only("ena_srd_mode"),
    raw_only("ena_srd_resource_utilization"),
};
static_assert(all_valid(kEna));
static_assert(count_summed(kEna) == 0);

// drivers/net/ethernet/hisilicon/hns3/hns3pf/hclge_main.c. Times (*_xoff_time) have no documented unit and
// stay raw.
constexpr std::array kHns3{
    curated("mac_rx_pfc_pri#_pkt_num", kPfcFrames, kRxPriority),
    curated("mac_tx_pfc_pri#_pkt_num", kPfcFrames, kTxPriority),
    raw_only("mac_rx_pfc_pri#_xoff_time"),
    raw_only("mac_tx_pfc_pri#_xoff_time"),
    raw_only("mac_rx_pfc_pkt_num"),  // all priorities together
    raw_only("mac_tx_pfc_pkt_num"),
    curated("mac_rx_mac_pause_num", kNetdevPauseFrames, kRx),
    curated("mac_tx_mac_pause_num", kNetdevPauseFrames, kTx),
    raw_only("mac_rx_pause_xoff_time"),
    raw_only("mac_tx_pause_xoff_time"),
};
static_assert(all_valid(kHns3));
static_assert(count_summed(kHns3) == 0);

// drivers/net/ethernet/intel/i40e/i40e_ethtool.c. Names with port. are the port's. XON and XOFF frames are
// counted separately; time is not counted.
constexpr std::array kI40e{
    curated("port.rx_priority_#_xon_rx", kPfcFrames, kRxPriority),
    curated("port.rx_priority_#_xoff_rx", kPfcFrames, kRxPriority),
    curated("port.tx_priority_#_xon_tx", kPfcFrames, kTxPriority),
    curated("port.tx_priority_#_xoff_tx", kPfcFrames, kTxPriority),
    curated("port.rx_priority_#_xon_2_xoff", kPfcTransitions, kRxPriority),
    curated("port.link_xon_rx", kNetdevPauseFrames, kRx),
    curated("port.link_xoff_rx", kNetdevPauseFrames, kRx),
    curated("port.link_xon_tx", kNetdevPauseFrames, kTx),
    curated("port.link_xoff_tx", kNetdevPauseFrames, kTx),
    curated("port.rx_discards", kNetdevDiscards, kRxPortBuffer),
    curated("port.tx_dropped_link_down", kNetdevDiscards, kTxLinkDown),
};
static_assert(all_valid(kI40e));
static_assert(count_summed(kI40e) == 8);

// drivers/net/ethernet/intel/ice/ice_ethtool.c. Names with .nic are the port's, others the function's. XON
// and XOFF frames are counted separately; time is not counted.
constexpr std::array kIce{
    curated("rx_priority_#_xon.nic", kPfcFrames, kRxPriority),
    curated("rx_priority_#_xoff.nic", kPfcFrames, kRxPriority),
    curated("tx_priority_#_xon.nic", kPfcFrames, kTxPriority),
    curated("tx_priority_#_xoff.nic", kPfcFrames, kTxPriority),
    curated("link_xon_rx.nic", kNetdevPauseFrames, kRx),
    curated("link_xoff_rx.nic", kNetdevPauseFrames, kRx),
    curated("link_xon_tx.nic", kNetdevPauseFrames, kTx),
    curated("link_xoff_tx.nic", kNetdevPauseFrames, kTx),
    curated("rx_dropped.nic", kNetdevDiscards, kRxPortBuffer),
    curated("rx_dropped", kNetdevDiscards, kRxNoReceiveBuffer),
    curated("tx_dropped_link_down.nic", kNetdevDiscards, kTxLinkDown),
};
static_assert(all_valid(kIce));
static_assert(count_summed(kIce) == 8);

// drivers/net/ethernet/pensando/ionic/ionic_stats.c. PFC frames are not counted by priority; pause time is,
// in microseconds.
constexpr std::array kIonic{
    curated("frames_rx_pripause", kPfcFrames, kRxAllPriorities),
    curated("frames_tx_pripause", kPfcFrames, kTxAllPriorities),
    microseconds("rx_pripause_#_1us_count", kPfcPauseSeconds, kRxPriority),
    microseconds("tx_pripause_#_1us_count", kPfcPauseSeconds, kTxPriority),
    curated("frames_rx_pause", kNetdevPauseFrames, kRx),
    curated("frames_tx_pause", kNetdevPauseFrames, kTx),
    microseconds("rx_pause_1us_count", kPauseSeconds, kRx),
    curated("frames_rx_pri_#", kPriorityPackets, kRxPriority),
    curated("frames_tx_pri_#", kPriorityPackets, kTxPriority),
    curated("frames_rx_dropped", kNetdevDiscards, kRxPort),
    curated("hw_rx_over_errors", kNetdevDiscards, kRxNoReceiveBuffer),  // rx_queue_empty of the firmware
    raw_only("hw_rx_dropped"),  // of the function, for any reason: includes the above
};
static_assert(all_valid(kIonic));
static_assert(count_summed(kIonic) == 0);

// drivers/net/ethernet/microsoft/mana/mana_ethtool.c: a function of a cloud host's adapter, without pauses,
// which only the cloud provider sees. While the interface is down the driver returns zeros.
constexpr std::array kMana{
    curated("hc_rx_discards_no_wqe", kNetdevDiscards, kRxNoReceiveBuffer),
};
static_assert(all_valid(kMana));
static_assert(count_summed(kMana) == 0);

// drivers/net/ethernet/mellanox/mlx4/en_ethtool.c. Durations are in microseconds according to the vendor's
// description of the counters. The driver lists only the kind of flow control (PFC or link) that is on.
constexpr std::array kMlx4{
    curated("rx_pause_prio_#", kPfcFrames, kRxPriority),
    curated("tx_pause_prio_#", kPfcFrames, kTxPriority),
    microseconds("rx_pause_duration_prio_#", kPfcPauseSeconds, kRxPriority),
    microseconds("tx_pause_duration_prio_#", kPfcPauseSeconds, kTxPriority),
    curated("rx_pause_transition_prio_#", kPfcTransitions, kRxPriority),
    curated("tx_pause_transition_prio_#", kPfcTransitions, kTxPriority),
    curated("rx_pause", kNetdevPauseFrames, kRx),
    curated("tx_pause", kNetdevPauseFrames, kTx),
    microseconds("rx_pause_duration", kPauseSeconds, kRx),
    microseconds("tx_pause_duration", kPauseSeconds, kTx),
    curated("rx_pause_transition", kPauseTransitions, kRx),
    curated("tx_pause_transition", kPauseTransitions, kTx),
    curated("rx_prio_#_bytes", kPriorityBytes, kRxPriority),
    curated("tx_prio_#_bytes", kPriorityBytes, kTxPriority),
    curated("rx_prio_#_packets", kPriorityPackets, kRxPriority),
    curated("tx_prio_#_packets", kPriorityPackets, kTxPriority),
};
static_assert(all_valid(kMlx4));
static_assert(count_summed(kMlx4) == 0);

// drivers/net/ethernet/mellanox/mlx5/core/en_stats.c; meanings and units: Documentation/networking/
// device_drivers/ethernet/mellanox/mlx5/counters.rst. Pause statistics of a priority are listed only while
// PFC is on for it, global pause only while that is on. Port statistics cover the wire with all its
// functions; a virtual function does not have them.
constexpr std::array kMlx5{
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
static_assert(all_valid(kMlx5));
static_assert(count_summed(kMlx5) == 0);

// drivers/net/ethernet/qlogic/qede/qede_ethtool.c. Nothing is counted by priority.
constexpr std::array kQede{
    curated("rx_pfc_frames", kPfcFrames, kRxAllPriorities),
    curated("tx_pfc_frames", kPfcFrames, kTxAllPriorities),
    curated("rx_pause_frames", kNetdevPauseFrames, kRx),
    curated("tx_pause_frames", kNetdevPauseFrames, kTx),
    curated("brb_discards", kNetdevDiscards, kRxPortBuffer),
    curated("no_buff_discards", kNetdevDiscards, kRxNoReceiveBuffer),
    raw_only("brb_truncates"),      // truncated, not dropped
    raw_only("link_change_count"),  // both up and down
};
static_assert(all_valid(kQede));
static_assert(count_summed(kQede) == 0);

constexpr std::array kTables{
    DriverTable{"mlx5_core", kMlx5}, DriverTable{"bnxt_en", kBnxt}, DriverTable{"ice", kIce},
    DriverTable{"i40e", kI40e},      DriverTable{"ionic", kIonic},  DriverTable{"hns3", kHns3},
    DriverTable{"mlx4_core", kMlx4}, DriverTable{"cxgb4", kCxgb4},  DriverTable{"qede", kQede},
    DriverTable{"mana", kMana},      DriverTable{"ena", kEna},
};

}  // namespace

std::span<const DriverTable> driver_tables() { return kTables; }

}  // namespace rdma_exporter::collectors::ethtool_table
