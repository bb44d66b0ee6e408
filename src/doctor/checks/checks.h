// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <vector>

#include "doctor/check.h"
#include "doctor/host_facts.h"

// The checks: pure functions over facts, one file per subject. Facts that cannot be read yield the verdict
// unknown with the reason; checks that do not apply (PFC of an InfiniBand port) yield no finding.
namespace rdma_exporter::doctor {

// Every check by its name in the code; the rows are in check_table.cpp.
namespace check {

extern const Check device_present, driver_bound, firmware, software_roce;
extern const Check port_state, link_layer, link_speed, link_width;
extern const Check pcie_link, pcie_bandwidth, numa_node, irq_affinity;
extern const Check netdev_mtu, rdma_mtu, roce_gids, rings;
extern const Check pfc, global_pause, roce_priority, probe_priority, traffic_class, ecn;
extern const Check discards, receive_buffers, pause_frames, retries, link_errors, pcie_errors;
extern const Check health, firmware_update, module;
extern const Check resource_limits, netns, udp_port, kernel_hazards;
extern const Check locked_memory, device_files;

}  // namespace check

// About one device.
void check_ports(const DeviceFacts& device, Findings& out);
void check_pcie(const DeviceFacts& device, const SystemFacts& system, Findings& out);
void check_ethernet(const DeviceFacts& device, Findings& out);
/// `probe`: nullopt where it is off.
void check_lossless(const DeviceFacts& device, const std::optional<ProbeFacts>& probe, Findings& out);
void check_resources(const DeviceFacts& device, Findings& out);
// These look at all devices together.
void check_devices(const SystemFacts& system, const DeviceRefs& devices, Findings& out);
void check_system(const SystemFacts& system, const DeviceRefs& devices, Findings& out);
void check_counters(const std::vector<CounterFacts>& counters, double sample_seconds, Findings& out);
/// Health reporters and firmware from devlink, and the module's own limits. Accepts all of the exporter's
/// gauges and ignores those it does not need.
void check_health(const std::vector<GaugeFacts>& gauges, Findings& out);

/// Whether a report shows the counter if it is not 0, because it counts errors, losses or congestion.
bool matters(const CounterFacts& counter);

/// The findings about one device. `probe`: nullopt where it is off.
Findings diagnose_device(const DeviceFacts& device, const SystemFacts& system,
                         const std::optional<ProbeFacts>& probe = std::nullopt);
/// Those of the host, and those that compare devices.
Findings diagnose_host(const SystemFacts& system, const DeviceRefs& devices);
/// All of them, worst first.
Findings diagnose(const Facts& facts);

}  // namespace rdma_exporter::doctor
