// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// The names of node_exporter's collector infiniband (1.12), made of ours: docs/MIGRATION.md. What a driver does not count
// stays absent.
local m = import 'migration.libsonnet';

local rx = { direction: 'rx' };
local tx = { direction: 'tx' };
local side(side, kind) = m.of('port_access_errors_total', { side: side, kind: kind });
local raw(source, counter) = m.of('port_raw_total', { source: source, counter: counter });

// Names without node_infiniband_ (the old one) and rdma_port_ (ours).
local same = [
  'rate_bytes_per_second',
  'link_downed_total',
  'local_link_integrity_errors_total',
  'excessive_buffer_overrun_errors_total',
  'vl15_dropped_total',
];
local renamed = {
  state_id: 'state',
  physical_state_id: 'physical_state',
  symbol_error_total: 'symbol_errors_total',
  link_error_recovery_total: 'link_recoveries_total',
  port_errors_received_total: 'receive_errors_total',
  port_discards_transmitted_total: 'transmit_discards_total',
  port_transmit_wait_total: 'transmit_wait_ticks_total',
  port_receive_remote_physical_errors_total: 'receive_remote_physical_errors_total',
  port_receive_switch_relay_errors_total: 'receive_switch_relay_errors_total',
  duplicate_requests_packets_total: 'duplicate_requests_total',
  implied_nak_seq_errors_total: 'implied_naks_total',
  local_ack_timeout_errors_total: 'ack_timeouts_total',
  out_of_sequence_packets_received_total: 'out_of_sequence_total',
  out_of_buffer_drops_total: 'receive_buffer_missing_total',
  np_ecn_marked_roce_packets_received_total: 'ecn_marked_packets_total',
  rp_cnp_ignored_packets_received_total: 'cnp_ignored_total',
  rx_icrc_encapsulated_errors_total: 'icrc_errors_total',
};
// [old name around received or transmitted, our family]
local bothWays = [
  ['port_data_%s_bytes_total', 'data_bytes_total'],
  ['port_packets_%s_total', 'packets_total'],
  ['unicast_packets_%s_total', 'unicast_packets_total'],
  ['multicast_packets_%s_total', 'multicast_packets_total'],
  ['port_constraint_errors_%s_total', 'constraint_errors_total'],
];
local made = {
  [name[0] % way.old]: m.of('port_' + name[1], way.labels)
  for name in bothWays
  for way in [{ old: 'received', labels: rx }, { old: 'transmitted', labels: tx }]
} + {
  port_discards_received_total: raw('counters', 'port_rcv_discards'),
  packet_sequence_errors_total: m.of('port_sequence_naks_total', rx),
  rnr_nak_retry_packets_received_total: m.of('port_rnr_naks_total', rx),
  np_cnp_packets_sent_total: m.of('port_cnp_packets_total', tx),
  rp_cnp_packets_handled_total: m.of('port_cnp_packets_total', rx) + '\n- rdma_port_cnp_ignored_total',
  req_cqes_errors_total: m.of('port_cqe_errors_total', { side: 'requester' }),
  resp_cqes_errors_total: m.of('port_cqe_errors_total', { side: 'responder' }),
  req_cqes_flush_errors_total: m.of('port_cqe_flush_errors_total', { side: 'requester' }),
  resp_cqes_flush_errors_total: m.of('port_cqe_flush_errors_total', { side: 'responder' }),
  req_remote_access_errors_total: side('requester', 'access'),
  resp_remote_access_errors_total: side('responder', 'access'),
  req_remote_invalid_request_errors_total: side('requester', 'invalid'),
  resp_local_length_errors_total: side('responder', 'length'),
  roce_adp_retransmits_total: m.of('port_retransmitted_packets_total', { scope: 'adaptive' }),
  roce_adp_retransmits_timeout_total: raw('hw_counters', 'roce_adp_retrans_to'),
  rx_dct_connect_requests_total: raw('hw_counters', 'rx_dct_connect'),
  roce_slow_restart_used_total: m.of('port_slow_restarts_total', { kind: 'restart' }),
  roce_slow_restart_cnps_total: m.of('port_slow_restarts_total', { kind: 'cnp' }),
  roce_slow_restart_total: m.of('port_slow_restarts_total', { kind: 'transition' }),
  rx_read_requests_total: m.of('port_requests_total', rx { operation: 'read' }),
  rx_write_requests_total: m.of('port_requests_total', rx { operation: 'write' }),
  rx_atomic_requests_total: m.of('port_requests_total', rx { operation: 'atomic' }),
};
local rules = { [name]: 'rdma_port_' + name for name in same }
              + std.mapWithKey(function(_, family) 'rdma_port_' + family, renamed)
              + made;

function(lib) lib.group('rdma-migration-node-exporter', [
  lib.record('node_infiniband_info', |||
    max by (%(target)s, device, board_id, firmware_version, hca_type) (
      label_replace(rdma_device_info, "firmware_version", "$1", "fw_version", "(.*)")
    )
  |||),
] + [lib.record('node_infiniband_' + name, rules[name]) for name in std.objectFields(rules)])
