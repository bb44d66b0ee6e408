// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Rates and ratios that alerts and dashboards share. Ratios are 0 to 1; a denominator that is 0 makes no sample.
function(lib) lib.group('rdma-rates', [
  // Share of time that a priority stood still. direction rx: this host's sending, tx: its link partner's.
  lib.record('rdma:pfc_pause:ratio', 'rate(rdma_pfc_pause_seconds_total[%(pause)s])'),

  // Where an adapter has no pause time: each frame stops at most 65535 quanta of 512 bits. An upper bound; drivers that
  // count the resuming frame too (ice) double it.
  lib.record('rdma:pfc_pause_estimate:ratio', |||
    clamp_max(
      rate(rdma_pfc_frames_total[%(pause)s]) * 65535 * 64
        / ignoring (priority, direction) group_left rdma_netdev_speed_bytes_per_second,
      1
    )
    unless ignoring (priority) rdma_pfc_pause_seconds_total
  |||),

  lib.record('rdma:port_data_bytes:rate', 'rate(rdma_port_data_bytes_total[%(rate)s])'),
  lib.record('rdma:port_packets:rate', 'rate(rdma_port_packets_total[%(rate)s])'),
  lib.record('rdma:port_utilization:ratio', |||
    rdma:port_data_bytes:rate / ignoring (direction) group_left () (rdma_port_rate_bytes_per_second > 0)
  |||),

  lib.record('rdma:ecn_marked:ratio', |||
    rate(rdma_port_ecn_marked_packets_total[%(rate)s])
      / ignoring (direction) (rate(rdma_port_packets_total{direction="rx"}[%(rate)s]) > 0)
  |||),
  lib.record('rdma:out_of_sequence:ratio', |||
    rate(rdma_port_out_of_sequence_total[%(rate)s])
      / ignoring (direction) (rate(rdma_port_packets_total{direction="rx"}[%(rate)s]) > 0)
  |||),
  lib.record('rdma:retransmitted_packets:ratio', |||
    rate(rdma_port_retransmitted_packets_total[%(rate)s])
      / ignoring (scope, direction) group_left () (rate(rdma_port_packets_total{direction="tx"}[%(rate)s]) > 0)
  |||),

  lib.record('rdma:resource_utilization:ratio', 'rdma_resource_objects / (rdma_resource_objects_limit > 0)'),

  // PCIe speed times width, with the model: cards of one model in one job should have the same.
  lib.record('rdma:device_pcie:transfers_per_second', |||
    rdma_device_pcie_speed_transfers_per_second * rdma_device_pcie_width_lanes
      * on (%(target)s, device) group_left (board_id) rdma_device_info{is_vf!="1"}
  |||),

  // Settings, with the model of the adapter, so that peers can be compared. Virtual devices have no model.
  lib.record('rdma:port_active_mtu:bytes', |||
    (rdma_port_active_mtu_bytes and on (%(target)s, device, port) rdma_port_up == 1)
      * on (%(target)s, device) group_left (vendor_id, device_id) rdma_device_info{vendor_id!=""}
  |||),
  lib.record('rdma:host:devices', 'count by (%(target)s) (rdma_device_info{is_vf!="1",vendor_id!=""})'),
  lib.record('rdma:priority_pfc:enabled', |||
    rdma_dcb_pfc_enabled * on (%(target)s, netdev) group_left (vendor_id, device_id)
      max by (%(target)s, netdev, vendor_id, device_id) (
        (rdma_netdev_info or on (%(target)s, netdev) rdma_port_info{netdev!=""})
          * on (%(target)s, device) group_left (vendor_id, device_id) rdma_device_info{vendor_id!=""}
      )
  |||),

  // Ports that were ACTIVE in the days before. InfiniBand says when somebody has disabled a port, Ethernet does not.
  lib.record('rdma:port:down', |||
    rdma_port_up == 0
    and on (%(target)s, device, port) last_over_time(rdma:port_up:history[%(hold)s]) == 1
    unless on (%(target)s, device, port) (
      rdma_port_physical_state == 3 and on (%(target)s, device, port) rdma_port_info{link_layer="InfiniBand"}
    )
  |||),

  // Of all probes of a target; ports and hosts that are down have alerts of their own. A target is called as its instance,
  // without the port.
  lib.record('rdma:probe_failures:ratio', |||
    (
      sum by (%(scope)s, target, op) (
        sum without (stage, reason) (rate(rdma_probe_failures_total[%(probe)s]))
          unless on (%(target)s, device, port) rdma:port:down
      )
      / (sum by (%(scope)s, target, op) (rate(rdma_probe_attempts_total[%(probe)s])) > 0)
    )
    unless on (%(scope)s, target) label_replace(rdma:port:down, "target", "$1", "%(instance)s", "([^:]+).*")
    unless on (%(scope)s, target) label_replace(up == 0, "target", "$1", "%(instance)s", "([^:]+).*")
  |||),
  lib.record('rdma:probe_rtt_seconds:p50', 'histogram_quantile(0.50, rate(rdma_probe_rtt_seconds_bucket[%(probe)s]))'),
  lib.record('rdma:probe_rtt_seconds:p99', 'histogram_quantile(0.99, rate(rdma_probe_rtt_seconds_bucket[%(probe)s]))'),
])
