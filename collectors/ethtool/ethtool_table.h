// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Vendor-neutral families of driver statistics (ethtool -S). driver_tables.cpp assigns the statistics of
// each driver to them. Direction: rx is what this host received, so a received pause stopped this host.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "collectors/counters/tables/counter_row.h"
#include "collectors/ethtool/ethtool_standard_table.h"
#include "core/metric.h"
#include "host/topology/driver.h"

namespace rdma_exporter::collectors {

// clang-format off

// Priority flow control.

inline constexpr core::MetricDesc kPfcFrames{
    "rdma_pfc_frames_total", core::MetricType::counter, "device,port,netdev,priority,direction", "frames",
    "Priority flow control (PFC) frames received (rx) or sent (tx). rx: this host was told to stop sending, "
    "because of congestion beyond it. tx: this host was too slow to receive. XOFF, XON and repetitions all "
    "count, so the number says little about time paused. ionic and qede do not distinguish priorities: "
    "priority=\"all\"",
    "ethtool -S"};
inline constexpr core::MetricDesc kPfcPauseSeconds{
    "rdma_pfc_pause_seconds_total", core::MetricType::counter, "device,port,netdev,priority,direction", "seconds",
    "Time in seconds that a priority was paused by flow control. rx: sending by this host was paused; tx: "
    "sending by the other end of the link was paused. rate() gives the fraction of time paused",
    "ethtool -S"};
inline constexpr core::MetricDesc kPfcTransitions{
    "rdma_pfc_transitions_total", core::MetricType::counter, "device,port,netdev,priority,direction", "events",
    "Pause episodes of a priority, counted as transitions from paused to running (i40e: from running to "
    "paused)",
    "ethtool -S",
    core::MetricSet::full};

// Link-level flow control (802.3x), which stops all priorities.

inline constexpr core::MetricDesc kPauseSeconds{
    "rdma_netdev_pause_seconds_total", core::MetricType::counter, "device,port,netdev,direction", "seconds",
    "Time in seconds that the whole link was paused by 802.3x flow control. rx: sending by this host was "
    "paused; tx: sending by the other end was paused",
    "ethtool -S"};
inline constexpr core::MetricDesc kPauseTransitions{
    "rdma_netdev_pause_transitions_total", core::MetricType::counter, "device,port,netdev,direction", "events",
    "802.3x pause episodes, counted as transitions from paused to running",
    "ethtool -S",
    core::MetricSet::full};

inline constexpr core::MetricDesc kPauseStormEvents{
    "rdma_netdev_pause_storm_events_total", core::MetricType::counter, "device,port,netdev,level", "events",
    "Events reported by the adapter's pause storm watchdog. level=\"warning\": it kept sending pause frames "
    "for a long time (bnxt_en: receive rings stalled under pause); level=\"error\": it stopped sending "
    "pause frames, so packets may be lost",
    "ethtool -S"};

// Traffic and loss by priority.

inline constexpr core::MetricDesc kPriorityBytes{
    "rdma_priority_bytes_total", core::MetricType::counter, "device,port,netdev,priority,direction", "bytes",
    "Bytes received (rx) or sent (tx) on the physical port by 802.1p priority, including RDMA and all "
    "functions of the port. bnxt_en reports the priority's queue, so priorities that share a queue show the "
    "same number: do not add them up",
    "ethtool -S"};
inline constexpr core::MetricDesc kPriorityPackets{
    "rdma_priority_packets_total", core::MetricType::counter, "device,port,netdev,priority,direction", "packets",
    "Packets received (rx) or sent (tx) on the physical port by 802.1p priority. Covers the same traffic as "
    "rdma_priority_bytes_total",
    "ethtool -S"};
inline constexpr core::MetricDesc kPriorityDiscards{
    "rdma_priority_discards_total", core::MetricType::counter, "device,port,netdev,priority,direction,reason", "packets",
    "Packets of a priority dropped by the adapter. reason=\"port_buffer\": the port's receive buffer was "
    "full; host_buffer: the host's share of it was full; congestion: dropped by the adapter's congestion "
    "control for the host (WRED)",
    "ethtool -S"};
inline constexpr core::MetricDesc kPriorityEcnMarked{
    "rdma_priority_ecn_marked_packets_total", core::MetricType::counter, "device,port,netdev,priority,direction", "packets",
    "Packets of a priority that the adapter itself marked as ECN Congestion Experienced because the host "
    "was too slow",
    "ethtool -S",
    core::MetricSet::full};

// Loss, not by priority.

inline constexpr core::MetricDesc kNetdevDiscards{
    "rdma_netdev_discards_total", core::MetricType::counter, "device,port,netdev,direction,reason", "packets",
    "Packets without errors that were dropped, by reason. rx: port_buffer (port buffer full), port, "
    "pcie_buffer (PCIe too slow), no_receive_buffer (host posted no buffers), no_memory, oversize, no_rule, "
    "interface_down, internal_queue. tx: port (link down or paused too long), link_down, ring",
    "ethtool -S"};
inline constexpr core::MetricDesc kReceiveBufferThresholdEvents{
    "rdma_netdev_receive_buffer_threshold_events_total", core::MetricType::counter, "device,port,netdev", "events",
    "Number of times the port's receive buffer filled beyond its threshold (mlx5: 85 %)",
    "ethtool -S",
    core::MetricSet::full};

// The physical link.

inline constexpr core::MetricDesc kNetdevPcsSymbolErrors{
    "rdma_netdev_pcs_symbol_errors_total", core::MetricType::counter, "device,port,netdev", "symbols",
    "Symbol errors of the physical coding sublayer that error correction did not repair",
    "ethtool -S"};
inline constexpr core::MetricDesc kLaneBitErrors{
    "rdma_netdev_lane_bit_errors_total", core::MetricType::counter, "device,port,netdev,lane", "errors",
    "Bit errors of one lane before error correction. One lane far above the others points at the cable or "
    "module",
    "ethtool -S",
    core::MetricSet::full};

// PCIe.

inline constexpr core::MetricDesc kPcieStalled{
    "rdma_netdev_pcie_stalled_ratio", core::MetricType::gauge, "device,port,netdev,operation", "ratio",
    "Fraction of the last second (0 to 1) in which the adapter had PCIe requests but no credits to send them",
    "ethtool -S",
    core::MetricSet::full};
inline constexpr core::MetricDesc kPcieStallSeconds{
    "rdma_netdev_pcie_stall_seconds_total", core::MetricType::counter, "device,port,netdev,operation", "seconds",
    "Number of seconds in which the adapter's PCIe requests were stalled for more than 30 % of the time",
    "ethtool -S"};
inline constexpr core::MetricDesc kPcieSignalIntegrityErrors{
    "rdma_netdev_pcie_signal_integrity_errors_total", core::MetricType::counter, "device,port,netdev,direction", "events",
    "PCIe link recoveries caused by transmission errors, initiated by the adapter (rx) or by the other end "
    "(tx)",
    "ethtool -S",
    core::MetricSet::full};

// clang-format on

/// The families above, in this order, then the raw ones. Families that ethtool's standard groups also fill
/// are in ethtool_standard_table.h.
std::span<const core::MetricDesc* const> ethtool_families();

/// How the statistics of a network interface are exported. `driver` is the name in sysfs device/driver:
/// "mlx5_core", "bnxt_en". Empty for drivers without known statistics: all of theirs are raw.
std::span<const CounterRow> ethtool_rows(std::string_view driver);

/// Whether a statistic is a value that may decrease.
bool is_ethtool_gauge(std::string_view raw, host::Driver driver);

/// All tables as they are written; `#` stands for a digit from 0 to 7.
std::vector<CounterTable> ethtool_tables();

}  // namespace rdma_exporter::collectors
