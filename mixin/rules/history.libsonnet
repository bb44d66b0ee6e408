// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// What ports and cards were in the past days. Coarse subqueries in a slow group, because a week at full resolution is
// too much for a server with thousands of ports. By these labels only: others (pod, for instance) change with a restart.
function(lib) lib.group('rdma-history', [
  lib.record('rdma:port_up:history', |||
    max by (job, instance, device, port) (max_over_time(rdma_port_up[%(history)s]))
  |||),
  lib.record('rdma:port_up:memory', |||
    max by (job, instance, device, port) (max_over_time(rdma_port_up[%(memory)s]))
  |||),
  lib.record('rdma:port_rate_bytes_per_second:history', |||
    max by (job, instance, device, port) (max_over_time(rdma_port_rate_bytes_per_second[%(history)s]))
  |||),
  lib.record('rdma:device_pcie_transfers_per_second:history', |||
    max by (job, board_id) (max_over_time(rdma:device_pcie:transfers_per_second[%(history)s]))
  |||),
])
