// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include "doctor/check.h"

// Every check by its name in the code; the rows are in check_table.cpp.
namespace rdma_exporter::doctor::check {

extern const Check device_present, driver_bound, firmware, software_roce;
extern const Check port_state, link_layer, link_speed, link_width;
extern const Check pcie_link, pcie_bandwidth, numa_node, irq_affinity;
extern const Check netdev_mtu, rdma_mtu, roce_gids, rings;
extern const Check pfc, global_pause, roce_priority, probe_priority, traffic_class, ecn;
extern const Check discards, receive_buffers, pause_frames, retries, link_errors, pcie_errors;
extern const Check health, firmware_update, module;
extern const Check resource_limits, netns, udp_port, kernel_hazards;
extern const Check locked_memory, device_files;

}  // namespace rdma_exporter::doctor::check
