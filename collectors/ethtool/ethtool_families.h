// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Vendor-neutral families of driver statistics (ethtool -S). Which statistic of which driver goes where is in
// ethtool_tables/. Direction: rx is what this host received, so a pause that it received stopped this host.
#pragma once

#include <span>

#include "core/metric.h"

namespace rdma_exporter::collectors {

// clang-format off

// Priority flow control.

inline constexpr core::MetricDesc kPfcFrames{
    "rdma_pfc_frames_total", core::MetricType::counter, "netdev,priority,direction", "frames",
    "Priority flow control frames. rx: received, this host was told to stop sending (congestion beyond it); tx: "
    "sent, this host was too slow to receive. Counts XOFF, XON and repetitions, so the number says little about "
    "time. ionic and qede do not tell priorities apart: priority=\"all\"",
    "ethtool -S"};
inline constexpr core::MetricDesc kPfcPauseSeconds{
    "rdma_pfc_pause_seconds_total", core::MetricType::counter, "netdev,priority,direction", "seconds",
    "Time a priority stood still by flow control: rx: this host's sending, tx: the sending of the link's other "
    "end. rate() is the share of time",
    "ethtool -S"};
inline constexpr core::MetricDesc kPfcTransitions{
    "rdma_pfc_transitions_total", core::MetricType::counter, "netdev,priority,direction", "events",
    "Episodes of pause of a priority: its changes from stopped to running (i40e: from running to stopped)",
    "ethtool -S"};

// Link-level flow control (802.3x): all priorities at once.

inline constexpr core::MetricDesc kPauseFrames{
    "rdma_pause_frames_total", core::MetricType::counter, "netdev,direction", "frames",
    "Link-level pause frames (802.3x), received (rx: this host was told to stop) or sent (tx), as the driver's "
    "statistics count them",
    "ethtool -S"};
inline constexpr core::MetricDesc kPauseSeconds{
    "rdma_pause_seconds_total", core::MetricType::counter, "netdev,direction", "seconds",
    "Time the whole link stood still by 802.3x pause: rx: this host's sending, tx: the other end's",
    "ethtool -S"};
inline constexpr core::MetricDesc kPauseTransitions{
    "rdma_pause_transitions_total", core::MetricType::counter, "netdev,direction", "events",
    "Episodes of 802.3x pause: changes from stopped to running",
    "ethtool -S"};

inline constexpr core::MetricDesc kPauseStormEvents{
    "rdma_pause_storm_events_total", core::MetricType::counter, "netdev,severity", "events",
    "The adapter's watchdog against pause storms. warning: it kept sending pause for a long time (bnxt_en: found "
    "receive rings that stand still under pause); error: it stopped sending pause, so packets may be lost",
    "ethtool -S"};

// Traffic and loss by priority.

inline constexpr core::MetricDesc kPriorityBytes{
    "rdma_priority_bytes_total", core::MetricType::counter, "netdev,priority,direction", "bytes",
    "Bytes on the physical port by 802.1p priority, RDMA and all functions of the port included. bnxt_en: of the "
    "queue of the priority, so that priorities which share a queue show the same number: do not add them up",
    "ethtool -S"};
inline constexpr core::MetricDesc kPriorityPackets{
    "rdma_priority_packets_total", core::MetricType::counter, "netdev,priority,direction", "packets",
    "Packets on the physical port by 802.1p priority; as rdma_priority_bytes_total",
    "ethtool -S"};
inline constexpr core::MetricDesc kPriorityDiscards{
    "rdma_priority_discards_total", core::MetricType::counter, "netdev,priority,direction,reason", "packets",
    "Packets of a priority dropped by the adapter. port_buffer: no room in the port's receive buffer; host_buffer: "
    "none in the host's share of it; congestion: by the adapter's congestion control for the host (WRED)",
    "ethtool -S"};
inline constexpr core::MetricDesc kPriorityEcnMarked{
    "rdma_priority_ecn_marked_packets_total", core::MetricType::counter, "netdev,priority,direction", "packets",
    "Packets of a priority that the adapter itself marked as congested (ECN CE), because the host was too slow",
    "ethtool -S"};

// Loss, whatever the priority.

inline constexpr core::MetricDesc kNetdevDiscards{
    "rdma_netdev_discards_total", core::MetricType::counter, "netdev,direction,reason", "packets",
    "Packets dropped without an error in them. rx: port_buffer (no room in the port), port, pcie_buffer (PCIe too "
    "slow), no_receive_buffer (host gave no buffers), no_memory, oversize, no_rule, interface_down, "
    "internal_queue; tx: port (link down, paused too long), link_down, ring",
    "ethtool -S"};
inline constexpr core::MetricDesc kReceiveBufferThresholdEvents{
    "rdma_receive_buffer_threshold_events_total", core::MetricType::counter, "netdev", "events",
    "Times the port's receive buffer filled beyond its threshold (mlx5: 85 %)",
    "ethtool -S"};

// The wire.

inline constexpr core::MetricDesc kFecCorrectedBitErrors{
    "rdma_fec_corrected_bit_errors_total", core::MetricType::counter, "netdev", "errors",
    "Bit errors that forward error correction repaired; normal on fast links, watch its rate",
    "ethtool -S"};
inline constexpr core::MetricDesc kFecBlocks{
    "rdma_fec_blocks_total", core::MetricType::counter, "netdev,result", "blocks",
    "Blocks with errors by what forward error correction made of them: corrected, uncorrectable (lost data)",
    "ethtool -S"};
inline constexpr core::MetricDesc kSymbolErrors{
    "rdma_symbol_errors_total", core::MetricType::counter, "netdev", "symbols",
    "Symbol errors of the physical coding sublayer that error correction did not repair",
    "ethtool -S"};
inline constexpr core::MetricDesc kLaneBitErrors{
    "rdma_lane_bit_errors_total", core::MetricType::counter, "netdev,lane", "errors",
    "Bit errors of one lane before error correction: one lane far above the others points at the cable or module",
    "ethtool -S"};
inline constexpr core::MetricDesc kLinkDownEvents{
    "rdma_link_down_events_total", core::MetricType::counter, "netdev", "events",
    "Times the link went down, as the driver's statistics count it",
    "ethtool -S"};

// RDMA traffic of the function, and its way to the host.

inline constexpr core::MetricDesc kVportRdmaBytes{
    "rdma_vport_rdma_bytes_total", core::MetricType::counter, "netdev,direction,cast", "bytes",
    "RDMA bytes of this function by unicast and multicast (mlx5)",
    "ethtool -S"};
inline constexpr core::MetricDesc kVportRdmaPackets{
    "rdma_vport_rdma_packets_total", core::MetricType::counter, "netdev,direction,cast", "packets",
    "RDMA packets of this function by unicast and multicast (mlx5)",
    "ethtool -S"};
inline constexpr core::MetricDesc kPcieStalled{
    "rdma_pcie_stalled_ratio", core::MetricType::gauge, "netdev,operation", "ratio",
    "Share of the last second (0 to 1) in which the adapter had PCIe requests but no credits to send them",
    "ethtool -S"};
inline constexpr core::MetricDesc kPcieStallSeconds{
    "rdma_pcie_stall_seconds_total", core::MetricType::counter, "netdev,operation", "seconds",
    "Seconds in which the adapter's PCIe requests stalled for more than 30 % of the time",
    "ethtool -S"};
inline constexpr core::MetricDesc kPcieSignalIntegrityErrors{
    "rdma_pcie_signal_integrity_errors_total", core::MetricType::counter, "netdev,direction", "events",
    "PCIe link recoveries because of transmission errors, begun by the adapter (rx) or by the other end (tx)",
    "ethtool -S"};

// What has no vendor-neutral name.

inline constexpr core::MetricDesc kEthtoolStatistic{
    "rdma_ethtool_statistics_total", core::MetricType::counter, "netdev,counter", "",
    "Driver statistic by the driver's name, in the driver's unit; only names that "
    "collector.ethtool.raw_include and raw_exclude allow",
    "ethtool -S"};
inline constexpr core::MetricDesc kEthtoolValue{
    "rdma_ethtool_value", core::MetricType::gauge, "netdev,counter", "",
    "Driver statistic that is no count, by the driver's name; as rdma_ethtool_statistics_total",
    "ethtool -S"};

// clang-format on

/// The families above, in this order.
std::span<const core::MetricDesc* const> ethtool_families();

}  // namespace rdma_exporter::collectors
