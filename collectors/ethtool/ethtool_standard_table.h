// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <span>

#include "collectors/counters/tables/counter_row.h"
#include "core/metric.h"

// Families of the collector ethtool_standard, and the family of each standard counter.
namespace rdma_exporter::collectors {

// clang-format off

// Counters.

inline constexpr core::MetricDesc kNetdevMacBytes{
    "rdma_netdev_mac_bytes_total", core::MetricType::counter, "device,port,netdev,direction", "bytes",
    "Octets of good frames received (rx) or sent (tx) on the wire as counted by IEEE 802.3: RDMA and "
    "Ethernet traffic of all functions of the port",
    "ethtool netlink STATS_GET eth-mac OctetsReceivedOK, OctetsTransmittedOK"};
inline constexpr core::MetricDesc kNetdevMacFrames{
    "rdma_netdev_mac_frames_total", core::MetricType::counter, "device,port,netdev,direction", "frames",
    "Good frames received (rx) or sent (tx) on the wire: RDMA and Ethernet traffic of all functions of the "
    "port",
    "ethtool netlink STATS_GET eth-mac FramesReceivedOK, FramesTransmittedOK",
    core::MetricSet::full};
inline constexpr core::MetricDesc kNetdevMacErrors{
    "rdma_netdev_mac_errors_total", core::MetricType::counter, "device,port,netdev,direction,error", "frames",
    "Frames with an error. error=\"fcs\": wrong checksum, so a bad cable, connector or transceiver; "
    "alignment; in_range_length, out_of_range_length, too_long: wrong length or above the MTU; internal: "
    "lost inside the adapter; unsupported_opcode: a control frame that it recognises neither as pause nor "
    "as PFC",
    "ethtool netlink STATS_GET eth-mac, eth-ctrl"};
inline constexpr core::MetricDesc kNetdevRmonErrors{
    "rdma_netdev_rmon_errors_total", core::MetricType::counter, "device,port,netdev,error", "frames",
    "Received frames of a wrong size as counted by RMON (RFC 2819). Some of them are also MAC errors. "
    "error=\"undersize\", oversize: the checksum is right; fragment, jabber: too short or too long, and the "
    "checksum is wrong",
    "ethtool netlink STATS_GET rmon",
    core::MetricSet::full};
inline constexpr core::MetricDesc kNetdevMacControlFrames{
    "rdma_netdev_mac_control_frames_total", core::MetricType::counter, "device,port,netdev,direction", "frames",
    "MAC control frames received (rx) or sent (tx), link-wide pause and PFC together. rx: this host is told "
    "to stop sending. tx: this host tells its switch to stop",
    "ethtool netlink STATS_GET eth-ctrl MACControlFramesReceived, MACControlFramesTransmitted",
    core::MetricSet::full};
inline constexpr core::MetricDesc kNetdevPauseFrames{
    "rdma_netdev_pause_frames_total", core::MetricType::counter, "device,port,netdev,direction", "frames",
    "Link-wide pause frames (IEEE 802.3 annex 31B) received (rx) or sent (tx). They stop all priorities and "
    "are not PFC. rx: this host is told to stop sending. tx: this host tells its switch to stop",
    "ethtool netlink PAUSE_GET"};
inline constexpr core::MetricDesc kNetdevSymbolErrors{
    "rdma_netdev_symbol_errors_total", core::MetricType::counter, "device,port,netdev", "symbols",
    "Symbols received with errors while the link was up, after error correction: a bad cable, connector or "
    "transceiver",
    "ethtool netlink STATS_GET eth-phy SymbolErrorDuringCarrier"};
inline constexpr core::MetricDesc kNetdevFecBlocks{
    "rdma_netdev_fec_blocks_total", core::MetricType::counter, "device,port,netdev,result", "blocks",
    "FEC blocks with errors, all lanes. result=\"corrected\": repaired, which is normal on fast links; "
    "uncorrectable: data was lost",
    "ethtool netlink FEC_GET"};
inline constexpr core::MetricDesc kNetdevFecCorrectedBitErrors{
    "rdma_netdev_fec_corrected_bit_errors_total", core::MetricType::counter, "device,port,netdev", "errors",
    "Bit errors repaired by forward error correction, all lanes. Divided by the number of bits received, "
    "this is the bit error ratio before correction",
    "ethtool netlink FEC_GET"};
inline constexpr core::MetricDesc kNetdevLinkDownEvents{
    "rdma_netdev_link_down_events_total", core::MetricType::counter, "device,port,netdev", "events",
    "Number of times the link was lost, as counted by the driver. Requires Linux 6.4 or later",
    "ethtool netlink LINKSTATE_GET"};

// Counters by lane. They are parts of the totals above, and therefore in families of their own.

inline constexpr core::MetricDesc kNetdevFecLaneBlocks{
    "rdma_netdev_fec_lane_blocks_total", core::MetricType::counter, "device,port,netdev,lane,result", "blocks",
    "FEC blocks with errors, by lane; otherwise like rdma_netdev_fec_blocks_total. One bad lane points at a "
    "bad contact or laser. Absent unless the driver counts by lane",
    "ethtool netlink FEC_GET"};
inline constexpr core::MetricDesc kNetdevFecLaneCorrectedBitErrors{
    "rdma_netdev_fec_lane_corrected_bit_errors_total", core::MetricType::counter, "device,port,netdev,lane", "errors",
    "Bit errors repaired by forward error correction, by lane; otherwise like "
    "rdma_netdev_fec_corrected_bit_errors_total. Absent unless the driver counts by lane",
    "ethtool netlink FEC_GET"};

// State and configuration.

inline constexpr core::MetricDesc kNetdevLinkUp{
    "rdma_netdev_link_up", core::MetricType::gauge, "device,port,netdev", "",
    "Whether the network interface is up and has a link: 1 if so, else 0",
    "ethtool netlink LINKSTATE_GET",
    core::MetricSet::full};
inline constexpr core::MetricDesc kNetdevLinkExtendedState{
    "rdma_netdev_link_extended_state_info", core::MetricType::gauge, "device,port,netdev,state,substate", "",
    "Why an interface that should be up has no link; 1 for as long as it has none. state and substate use "
    "ethtool's terms: no_cable, bad_signal_integrity, link_training_failure, module and others",
    "ethtool netlink LINKSTATE_GET"};
inline constexpr core::MetricDesc kNetdevSpeed{
    "rdma_netdev_speed_bytes_per_second", core::MetricType::gauge, "device,port,netdev", "bytes per second",
    "Link speed in bytes per second. Absent while there is no link",
    "ethtool netlink LINKMODES_GET"};
inline constexpr core::MetricDesc kNetdevPauseEnabled{
    "rdma_netdev_pause_enabled", core::MetricType::gauge, "device,port,netdev,direction", "",
    "Whether link-wide pause is enabled: 1 if so, else 0. rx: this host obeys received pause frames. tx: it "
    "may send them. With PFC, both should be 0",
    "ethtool netlink PAUSE_GET",
    core::MetricSet::full};
inline constexpr core::MetricDesc kNetdevFecInfo{
    "rdma_netdev_fec_info", core::MetricType::gauge, "device,port,netdev,mode", "",
    "Forward error correction (FEC) mode in use: rs, baser, llrs or off; always 1. Both ends of a link must "
    "use the same mode",
    "ethtool netlink FEC_GET",
    core::MetricSet::full};
inline constexpr core::MetricDesc kNetdevFecLineRate{
    "rdma_netdev_fec_line_bytes_per_second", core::MetricType::gauge, "device,port,netdev", "bytes per second",
    "Line rate of the link including FEC overhead, in bytes per second. The rate of corrected bit errors "
    "divided by 8 times this value is the bit error ratio before correction. Only for Reed-Solomon codes, "
    "and only if the code is known",
    "ethtool netlink LINKMODES_GET, FEC_GET"};
inline constexpr core::MetricDesc kNetdevFecCodeword{
    "rdma_netdev_fec_codeword_bytes", core::MetricType::gauge, "device,port,netdev", "bytes",
    "Size of the blocks counted by rdma_netdev_fec_blocks_total, in bytes: 660 for RS(528,514), 680 for "
    "RS(544,514)",
    "IEEE 802.3 clauses 91, 119"};
inline constexpr core::MetricDesc kNetdevFecLimit{
    "rdma_netdev_fec_bit_error_limit_ratio", core::MetricType::gauge, "device,port,netdev", "ratio",
    "Highest bit error ratio before correction that a link with this code may have: 5e-5 for RS(528,514), "
    "2.4e-4 for RS(544,514)",
    "IEEE 802.3 clauses 95, 136"};
inline constexpr core::MetricDesc kNetdevRxRing{
    "rdma_netdev_rx_ring_entries", core::MetricType::gauge, "device,port,netdev", "entries",
    "Receive descriptors of each queue for Ethernet traffic. RDMA queue pairs have their own",
    "ethtool netlink RINGS_GET",
    core::MetricSet::full};
inline constexpr core::MetricDesc kNetdevRxRingMax{
    "rdma_netdev_rx_ring_entries_max", core::MetricType::gauge, "device,port,netdev", "entries",
    "Highest number of receive descriptors per queue that the driver accepts",
    "ethtool netlink RINGS_GET",
    core::MetricSet::full};
inline constexpr core::MetricDesc kNetdevTxRing{
    "rdma_netdev_tx_ring_entries", core::MetricType::gauge, "device,port,netdev", "entries",
    "Transmit descriptors of each queue for Ethernet traffic",
    "ethtool netlink RINGS_GET",
    core::MetricSet::full};
inline constexpr core::MetricDesc kNetdevTxRingMax{
    "rdma_netdev_tx_ring_entries_max", core::MetricType::gauge, "device,port,netdev", "entries",
    "Highest number of transmit descriptors per queue that the driver accepts",
    "ethtool netlink RINGS_GET",
    core::MetricSet::full};
inline constexpr core::MetricDesc kNetdevModuleHighPower{
    "rdma_netdev_module_high_power", core::MetricType::gauge, "device,port,netdev", "",
    "Power mode of the transceiver: 1 high power, the only mode that carries traffic, 0 low power",
    "ethtool netlink MODULE_GET",
    core::MetricSet::full};
inline constexpr core::MetricDesc kNetdevTemperature{
    "rdma_netdev_temperature_celsius", core::MetricType::gauge, "device,port,netdev,sensor", "celsius",
    "Temperature reported by a sensor of the adapter, in degrees Celsius: its chip and, on mlx5, its "
    "transceivers",
    "sysfs device/hwmon of the interface, tempN_input"};
inline constexpr core::MetricDesc kNetdevTemperatureCritical{
    "rdma_netdev_temperature_critical_celsius", core::MetricType::gauge, "device,port,netdev,sensor", "celsius",
    "Temperature that the adapter considers critical for the sensor, in degrees Celsius",
    "sysfs device/hwmon of the interface, tempN_crit"};

// Counters without a vendor-neutral name.

inline constexpr core::MetricDesc kNetdevRaw{
    "rdma_netdev_raw_total", core::MetricType::counter, "device,port,netdev,counter", "",
    "Statistic of the interface that has no family of its own, under the driver's name and in the driver's "
    "unit, or under its name in IEEE 802.3 clause 30",
    "ethtool -S; ethtool netlink STATS_GET"};
inline constexpr core::MetricDesc kNetdevRawValue{
    "rdma_netdev_raw_value", core::MetricType::gauge, "device,port,netdev,counter", "",
    "Driver statistic of the interface that is not a count, under the driver's name. Otherwise like "
    "rdma_netdev_raw_total",
    "ethtool -S"};

// clang-format on

/// The family of each counter in host::genl_ethtool::kCounterNames.
std::span<const CounterRow> standard_rows();

/// All families above, in the order of the page.
std::span<const core::MetricDesc* const> standard_families();

}  // namespace rdma_exporter::collectors
