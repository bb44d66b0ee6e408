// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string_view>

// Every metric that the analysis uses. docs/METRICS.md says what they mean.
namespace rdma_exporter::fleet::names {

// Hosts and devices
inline constexpr std::string_view kDevices = "rdma_devices";
inline constexpr std::string_view kDeviceInfo = "rdma_device_info";
inline constexpr std::string_view kBuildInfo = "rdma_exporter_build_info";
inline constexpr std::string_view kPortUp = "rdma_port_up";
inline constexpr std::string_view kPhysicalState = "rdma_port_physical_state";

// Configuration
inline constexpr std::string_view kMtu = "rdma_port_active_mtu_bytes";
inline constexpr std::string_view kRate = "rdma_port_rate_bytes_per_second";
inline constexpr std::string_view kPcieSpeed = "rdma_device_pcie_speed_transfers_per_second";
inline constexpr std::string_view kPcieWidth = "rdma_device_pcie_width_lanes";
inline constexpr std::string_view kGids = "rdma_port_gids";
inline constexpr std::string_view kPfcEnabled = "rdma_dcb_pfc_enabled";
inline constexpr std::string_view kTrust = "rdma_dcb_trust_info";
inline constexpr std::string_view kEcnEnabled = "rdma_priority_ecn_enabled";

// Congestion, loss, links, resources
inline constexpr std::string_view kPauseSeconds = "rdma_pfc_pause_seconds_total";
inline constexpr std::string_view kPcieStalled = "rdma_netdev_pcie_stall_seconds_total";
inline constexpr std::string_view kDataBytes = "rdma_port_data_bytes_total";
inline constexpr std::string_view kRetransmitted = "rdma_port_retransmitted_packets_total";
inline constexpr std::string_view kSequenceNaks = "rdma_port_sequence_naks_total";
inline constexpr std::string_view kAckTimeouts = "rdma_port_ack_timeouts_total";
inline constexpr std::string_view kCnp = "rdma_port_cnp_packets_total";
inline constexpr std::string_view kDiscards = "rdma_netdev_discards_total";
inline constexpr std::string_view kFecBlocks = "rdma_netdev_fec_blocks_total";
inline constexpr std::string_view kCarrierChanges = "rdma_netdev_carrier_changes_total";
inline constexpr std::string_view kLinkDowned = "rdma_port_link_downed_total";
inline constexpr std::string_view kObjects = "rdma_resource_objects";
inline constexpr std::string_view kObjectsLimit = "rdma_resource_objects_limit";
inline constexpr std::string_view kOwnerQps = "rdma_resource_owner_qps";

// The probe
inline constexpr std::string_view kAttempts = "rdma_probe_attempts_total";
inline constexpr std::string_view kFailures = "rdma_probe_failures_total";
inline constexpr std::string_view kControlFailures = "rdma_probe_control_failures_total";
inline constexpr std::string_view kSuspected = "rdma_probe_retransmit_suspected_total";
inline constexpr std::string_view kMultiplier = "rdma_probe_rate_multiplier_ratio";
inline constexpr std::string_view kTargetInfo = "rdma_probe_target_info";

}  // namespace rdma_exporter::fleet::names
