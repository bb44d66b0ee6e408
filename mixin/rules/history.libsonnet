// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// What ports and cards were in the past days. Coarse subqueries in a slow group, because a week at full resolution is
// too much for a server with thousands of ports. By these labels only: others (pod, for instance) change with a restart.
function(lib) lib.group('rdma-history', [
  // Hosts whose exporter answered within the last day; a host that is down has no series of its own to know it by.
  lib.record('instance:rdma_exporter_build_info:max', |||
    max by (%(target)s) (max_over_time(rdma_exporter_build_info[%(memory)s]))
  |||),
  lib.record('port:rdma_port_up:max', |||
    max by (%(target)s, device, port) (max_over_time(rdma_port_up[%(history)s]))
  |||),
  lib.record('device:rdma_device_info:max', |||
    max by (%(target)s, device, vendor_id) (max_over_time(rdma_device_info{is_vf!="1"}[%(memory)s]))
  |||),
  lib.record('port:rdma_port_rate_bytes_per_second:max', |||
    max by (%(target)s, device, port) (max_over_time(rdma_port_rate_bytes_per_second[%(history)s]))
  |||),
  lib.record('model:rdma_device_pcie_transfers_per_second:max', |||
    max by (%(scope)s, vendor_id, device_id, board_id) (max_over_time(device:rdma_device_pcie_transfers_per_second:product[%(history)s]))
  |||),
])
