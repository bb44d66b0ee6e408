// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <span>

#include "collectors/counters/counter_row.h"
#include "core/metric.h"

// Families of the collector ethtool_standard, and which of them each standard counter becomes.
namespace rdma_exporter::collectors {

// clang-format off

// Counters.

inline constexpr core::MetricDesc kNetdevMacBytes{
    "rdma_netdev_mac_bytes_total", core::MetricType::counter, "netdev,direction", "bytes",
    "Octets of good frames on the wire as IEEE 802.3 counts them, RDMA and Ethernet traffic of all functions of "
    "the port",
    "ethtool netlink STATS_GET eth-mac OctetsReceivedOK, OctetsTransmittedOK"};
inline constexpr core::MetricDesc kNetdevMacFrames{
    "rdma_netdev_mac_frames_total", core::MetricType::counter, "netdev,direction", "frames",
    "Good frames on the wire, RDMA and Ethernet traffic of all functions of the port",
    "ethtool netlink STATS_GET eth-mac FramesReceivedOK, FramesTransmittedOK"};
inline constexpr core::MetricDesc kNetdevMacErrors{
    "rdma_netdev_mac_errors_total", core::MetricType::counter, "netdev,direction,error", "frames",
    "Frames with an error. error fcs: checksum wrong, so a bad cable, connector or transceiver; alignment; "
    "in_range_length, out_of_range_length, too_long: length wrong or above the MTU; internal: lost inside the "
    "adapter; unsupported_opcode: control frame that is neither pause nor PFC to it",
    "ethtool netlink STATS_GET eth-mac, eth-ctrl"};
inline constexpr core::MetricDesc kNetdevRmonErrors{
    "rdma_netdev_rmon_errors_total", core::MetricType::counter, "netdev,error", "frames",
    "Received frames of a wrong size as RMON counts them (RFC 2819), some of which are mac errors too. error "
    "undersize, oversize: checksum right; fragment, jabber: too short, too long, and checksum wrong",
    "ethtool netlink STATS_GET rmon"};
inline constexpr core::MetricDesc kNetdevMacControlFrames{
    "rdma_netdev_mac_control_frames_total", core::MetricType::counter, "netdev,direction", "frames",
    "MAC control frames: link-wide pause and PFC together. rx: this host is told to stop sending. tx: this host "
    "tells its switch to stop",
    "ethtool netlink STATS_GET eth-ctrl MACControlFramesReceived, MACControlFramesTransmitted"};
inline constexpr core::MetricDesc kNetdevPauseFrames{
    "rdma_netdev_pause_frames_total", core::MetricType::counter, "netdev,direction", "frames",
    "Link-wide pause frames (IEEE 802.3 annex 31B), which stop all priorities; not PFC. rx: this host is told to "
    "stop sending. tx: this host tells its switch to stop",
    "ethtool netlink PAUSE_GET"};
inline constexpr core::MetricDesc kNetdevSymbolErrors{
    "rdma_netdev_symbol_errors_total", core::MetricType::counter, "netdev", "symbols",
    "Symbols received wrong while the link was up, after correction: a bad cable, connector or transceiver",
    "ethtool netlink STATS_GET eth-phy SymbolErrorDuringCarrier"};
inline constexpr core::MetricDesc kNetdevFecBlocks{
    "rdma_netdev_fec_blocks_total", core::MetricType::counter, "netdev,result", "blocks",
    "Blocks of the forward error correction with errors, all lanes. result corrected: repaired, normal on fast "
    "links; uncorrectable: data was lost",
    "ethtool netlink FEC_GET"};
inline constexpr core::MetricDesc kNetdevFecCorrectedBitErrors{
    "rdma_netdev_fec_corrected_bit_errors_total", core::MetricType::counter, "netdev", "errors",
    "Bit errors that forward error correction repaired, all lanes; divided by the bits received it is the bit error "
    "rate before correction",
    "ethtool netlink FEC_GET"};
inline constexpr core::MetricDesc kNetdevLinkDownEvents{
    "rdma_netdev_link_down_events_total", core::MetricType::counter, "netdev", "events",
    "Times the link was lost, as the driver counts them; Linux 6.4 and later",
    "ethtool netlink LINKSTATE_GET"};
inline constexpr core::MetricDesc kNetdevStandardCounter{
    "rdma_netdev_standard_counters_total", core::MetricType::counter, "netdev,counter", "",
    "Standard counter without a family of its own, by its name in IEEE 802.3 clause 30",
    "ethtool netlink STATS_GET"};

// Counters by lane: parts of the totals above, hence in families of their own.

inline constexpr core::MetricDesc kNetdevFecLaneBlocks{
    "rdma_netdev_fec_lane_blocks_total", core::MetricType::counter, "netdev,lane,result", "blocks",
    "The same as rdma_netdev_fec_blocks_total by lane, where the driver counts lanes: one bad lane is a bad "
    "contact or laser",
    "ethtool netlink FEC_GET"};
inline constexpr core::MetricDesc kNetdevFecLaneCorrectedBitErrors{
    "rdma_netdev_fec_lane_corrected_bit_errors_total", core::MetricType::counter, "netdev,lane", "errors",
    "The same as rdma_netdev_fec_corrected_bit_errors_total by lane, where the driver counts lanes",
    "ethtool netlink FEC_GET"};

// State and configuration.

inline constexpr core::MetricDesc kNetdevLinkUp{
    "rdma_netdev_link_up", core::MetricType::gauge, "netdev", "",
    "1 if the network interface is up and has a link, else 0",
    "ethtool netlink LINKSTATE_GET"};
inline constexpr core::MetricDesc kNetdevLinkExtendedState{
    "rdma_netdev_link_extended_state", core::MetricType::gauge, "netdev,state,substate", "",
    "1 while an interface that should be up has no link, and why, in the words of ethtool: no_cable, "
    "bad_signal_integrity, link_training_failure, module and others",
    "ethtool netlink LINKSTATE_GET"};
inline constexpr core::MetricDesc kNetdevSpeed{
    "rdma_netdev_speed_bytes_per_second", core::MetricType::gauge, "netdev", "bytes per second",
    "Speed of the link; absent without a link",
    "ethtool netlink LINKMODES_GET"};
inline constexpr core::MetricDesc kNetdevPauseEnabled{
    "rdma_netdev_pause_enabled", core::MetricType::gauge, "netdev,direction", "",
    "1 if link-wide pause is on. rx: this host obeys received pause frames. tx: it may send them. With PFC both "
    "are to be 0",
    "ethtool netlink PAUSE_GET"};
inline constexpr core::MetricDesc kNetdevFecInfo{
    "rdma_netdev_fec_info", core::MetricType::gauge, "netdev,mode", "",
    "Always 1; forward error correction in use: rs, baser, llrs, or off. Both ends of a link have to agree",
    "ethtool netlink FEC_GET"};
inline constexpr core::MetricDesc kNetdevRxRing{
    "rdma_netdev_rx_ring_entries", core::MetricType::gauge, "netdev", "entries",
    "Receive descriptors of each queue for Ethernet traffic; RDMA queue pairs have their own",
    "ethtool netlink RINGS_GET"};
inline constexpr core::MetricDesc kNetdevRxRingMax{
    "rdma_netdev_rx_ring_entries_max", core::MetricType::gauge, "netdev", "entries",
    "Most receive descriptors of each queue that the driver takes",
    "ethtool netlink RINGS_GET"};
inline constexpr core::MetricDesc kNetdevTxRing{
    "rdma_netdev_tx_ring_entries", core::MetricType::gauge, "netdev", "entries",
    "Transmit descriptors of each queue for Ethernet traffic",
    "ethtool netlink RINGS_GET"};
inline constexpr core::MetricDesc kNetdevTxRingMax{
    "rdma_netdev_tx_ring_entries_max", core::MetricType::gauge, "netdev", "entries",
    "Most transmit descriptors of each queue that the driver takes",
    "ethtool netlink RINGS_GET"};
inline constexpr core::MetricDesc kNetdevModuleHighPower{
    "rdma_netdev_module_high_power", core::MetricType::gauge, "netdev", "",
    "1 if the transceiver is in high power mode, the only one that carries traffic, 0 if in low power mode",
    "ethtool netlink MODULE_GET"};
inline constexpr core::MetricDesc kNetdevTemperature{
    "rdma_netdev_temperature_celsius", core::MetricType::gauge, "netdev,sensor", "celsius",
    "Temperature of a sensor of the adapter: its chip and, on mlx5, its transceivers",
    "sysfs device/hwmon of the interface, tempN_input"};
inline constexpr core::MetricDesc kNetdevTemperatureCritical{
    "rdma_netdev_temperature_critical_celsius", core::MetricType::gauge, "netdev,sensor", "celsius",
    "Temperature that the adapter takes for critical for that sensor",
    "sysfs device/hwmon of the interface, tempN_crit"};

// clang-format on

/// Which family each counter of host::genl_ethtool::kCounterNames becomes.
std::span<const CounterRow> standard_rows();

/// All families above, in the order of the page.
std::span<const core::MetricDesc* const> standard_families();

}  // namespace rdma_exporter::collectors
