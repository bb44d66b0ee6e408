// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// The names of yuuki/rdma_exporter (0.7) that are not ours too, made of ours, with its labels and its units: docs/MIGRATION.md.
local m = import 'migration.libsonnet';

// Names without rdma_.
local same = {
  roce_pfc_pause_frames_total: 'pfc_frames_total',
  roce_pfc_pause_transitions_total: 'pfc_transitions_total',
  netdev_global_pause_frames_total: 'netdev_pause_frames_total',
  pcie_signal_integrity_total: 'netdev_pcie_signal_integrity_errors_total',
  phy_rx_corrected_bits_total: 'netdev_fec_corrected_bit_errors_total',
  phy_rx_pcs_symbol_err_total: 'netdev_pcs_symbol_errors_total',
  phy_rx_err_lane_total: 'netdev_lane_bit_errors_total',
  phy_link_down_events_total: 'netdev_link_down_events_total',
  optional_counter_enabled: 'port_optional_counters_enabled',
};
local discards(reason) = m.of('netdev_discards_total', { direction: 'rx', reason: reason });
local priority(reason) = m.of('priority_discards_total', { direction: 'rx', reason: reason });
local operation(expression, old, ours) = |||
  label_replace(sum without (operation) (%s{operation="%s"}), "op", "%s", "", "")
||| % [expression, ours, old];
local bothOperations(family, factor='') = std.rstripChars(
  factor + operation(family, 'rd', 'read') + 'or ' + factor + operation(family, 'wr', 'write'), '\n'
);
local words(direction) = m.of('port_data_bytes_total', { direction: direction }) + ' / 4';
// Driver statistics by name; the exporter has them with collector.ethtool.raw_include or the full set.
local raw(counter) = m.of('netdev_raw_total', { counter: counter });
local vportOf(unit, way, cast) =
  'label_replace(label_replace(%s, "direction", "%s", "", ""), "traffic", "%s", "", "")'
  % [raw('%s_vport_rdma_%s_%s' % [way, cast, unit]), way, cast];
local vport(unit) = std.join('\nor ', [vportOf(unit, way, cast) for way in ['rx', 'tx'] for cast in ['unicast', 'multicast']]);

// Counters that it names as the kernel names their file.
local files = {
  port_rcv_packets: m.of('port_packets_total', { direction: 'rx' }),
  port_xmit_packets: m.of('port_packets_total', { direction: 'tx' }),
  unicast_rcv_packets: m.of('port_unicast_packets_total', { direction: 'rx' }),
  unicast_xmit_packets: m.of('port_unicast_packets_total', { direction: 'tx' }),
  multicast_rcv_packets: m.of('port_multicast_packets_total', { direction: 'rx' }),
  multicast_xmit_packets: m.of('port_multicast_packets_total', { direction: 'tx' }),
  port_rcv_constraint_errors: m.of('port_constraint_errors_total', { direction: 'rx' }),
  port_xmit_constraint_errors: m.of('port_constraint_errors_total', { direction: 'tx' }),
  symbol_error: 'rdma_port_symbol_errors_total',
  link_error_recovery: 'rdma_port_link_recoveries_total',
  link_downed: 'rdma_port_link_downed_total',
  port_rcv_errors: 'rdma_port_receive_errors_total',
  port_rcv_remote_physical_errors: 'rdma_port_receive_remote_physical_errors_total',
  port_rcv_switch_relay_errors: 'rdma_port_receive_switch_relay_errors_total',
  port_xmit_discards: 'rdma_port_transmit_discards_total',
  port_xmit_wait: 'rdma_port_transmit_wait_ticks_total',
  local_link_integrity_errors: 'rdma_port_local_link_integrity_errors_total',
  excessive_buffer_overrun_errors: 'rdma_port_excessive_buffer_overrun_errors_total',
  vl15_dropped: 'rdma_port_vl15_dropped_total',
  duplicate_request: 'rdma_port_duplicate_requests_total',
  implied_nak_seq_err: 'rdma_port_implied_naks_total',
  local_ack_timeout_err: 'rdma_port_ack_timeouts_total',
  out_of_buffer: 'rdma_port_receive_buffer_missing_total',
  out_of_sequence: 'rdma_port_out_of_sequence_total',
  packet_seq_err: m.of('port_sequence_naks_total', { direction: 'rx' }),
  rnr_nak_retry_err: m.of('port_rnr_naks_total', { direction: 'rx' }),
  req_transport_retries_exceeded: m.of('port_retries_exceeded_total', { kind: 'transport' }),
  req_rnr_retries_exceeded: m.of('port_retries_exceeded_total', { kind: 'rnr' }),
  np_cnp_sent: m.of('port_cnp_packets_total', { direction: 'tx' }),
  np_ecn_marked_roce_packets: 'rdma_port_ecn_marked_packets_total',
  rp_cnp_ignored: 'rdma_port_cnp_ignored_total',
  rp_cnp_handled: m.of('port_cnp_packets_total', { direction: 'rx' }) + '\n- rdma_port_cnp_ignored_total',
  rx_icrc_encapsulated: 'rdma_port_icrc_errors_total',
  roce_adp_retrans: m.of('port_retransmitted_packets_total', { scope: 'adaptive' }),
  rx_read_requests: m.of('port_requests_total', { direction: 'rx', operation: 'read' }),
  rx_write_requests: m.of('port_requests_total', { direction: 'rx', operation: 'write' }),
  rx_atomic_requests: m.of('port_requests_total', { direction: 'rx', operation: 'atomic' }),
};

local rules = std.mapWithKey(function(_, family) 'rdma_' + family, same)
              + { [name + '_total']: files[name] for name in std.objectFields(files) } + {
  roce_pfc_pause_duration_total: '1e6 * rdma_pfc_pause_seconds_total',
  netdev_global_pause_duration_total: '1e6 * rdma_netdev_pause_seconds_total',
  netdev_global_pause_transitions_total: m.of('netdev_pause_transitions_total', { direction: 'rx' }),
  netdev_prio_discards_total: priority('port_buffer'),
  netdev_prio_buf_discard_total: priority('host_buffer'),
  netdev_prio_cong_discard_total: priority('congestion'),
  netdev_prio_ecn_marked_total: m.of('priority_ecn_marked_packets_total', { direction: 'rx' }),
  netdev_rx_discards_phy_total: discards('port_buffer'),
  netdev_rx_out_of_buffer_total: discards('no_receive_buffer'),
  pcie_outbound_buffer_overflow_total: discards('pcie_buffer'),
  pcie_outbound_stalled_percent: bothOperations('rdma_netdev_pcie_stalled_ratio', '100 * '),
  pcie_outbound_stalled_seconds_total: bothOperations('rdma_netdev_pcie_stall_seconds_total'),
  netdev_vport_rdma_bytes_total: vport('bytes'),
  netdev_vport_rdma_packets_total: vport('packets'),
  phy_rx_bits_total: raw('rx_bits_phy'),
  phy_rx_crc_errors_total: raw('rx_crc_errors_phy'),
  netdev_dev_out_of_buffer_total: raw('dev_out_of_buffer'),
  port_rcv_data_total: words('rx'),
  port_xmit_data_total: words('tx'),
};

function(lib) lib.group('rdma-migration-yuuki',
                        [lib.record('rdma_' + name, rules[name]) for name in std.objectFields(rules)])
