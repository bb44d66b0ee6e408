// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Rates and ratios that alerts and dashboards share. Ratios are 0 to 1; a denominator that is 0 makes no sample.
local expressions = import '../expressions.libsonnet';

function(lib) lib.group('rdma-rates', [
  // Share of time that a priority stood still. direction rx: this host's sending, tx: its link partner's.
  lib.record('netdev_priority:rdma_pfc_pause_seconds:rate', 'rate(rdma_pfc_pause_seconds_total[%(pause)s])'),

  // Where an adapter has no pause time: each frame stops at most 65535 quanta of 512 bits. An upper bound; drivers that
  // count the resuming frame too (ice) double it.
  lib.record('netdev_priority:rdma_pfc_frames:pause_ratio', |||
    clamp_max(
      rate(rdma_pfc_frames_total[%(pause)s]) * 65535 * 64
        / ignoring (priority, direction) group_left rdma_netdev_speed_bytes_per_second,
      1
    )
    unless ignoring (priority) rdma_pfc_pause_seconds_total
  |||),

  lib.record('port:rdma_port_data_bytes:rate', 'rate(rdma_port_data_bytes_total[%(rate)s])'),
  lib.record('port:rdma_port_packets:rate', 'rate(rdma_port_packets_total[%(rate)s])'),
  lib.record('port:rdma_port_utilization:ratio', |||
    port:rdma_port_data_bytes:rate / ignoring (direction) group_left () (rdma_port_rate_bytes_per_second > 0)
  |||),

  lib.record('port:rdma_port_ecn_marked_packets:ratio_rate', |||
    rate(rdma_port_ecn_marked_packets_total[%(rate)s])
      / ignoring (direction) (rate(rdma_port_packets_total{direction="rx"}[%(rate)s]) > 0)
  |||),
  lib.record('port:rdma_port_out_of_sequence:ratio_rate', |||
    rate(rdma_port_out_of_sequence_total[%(rate)s])
      / ignoring (direction) (rate(rdma_port_packets_total{direction="rx"}[%(rate)s]) > 0)
  |||),
  lib.record('port:rdma_port_retransmitted_packets:ratio_rate', |||
    rate(rdma_port_retransmitted_packets_total[%(rate)s])
      / ignoring (scope, direction) group_left () (rate(rdma_port_packets_total{direction="tx"}[%(rate)s]) > 0)
  |||),

  // Bits that are wrong before error correction, and blocks beyond repair, as shares of what came over the line.
  lib.record('netdev:rdma_netdev_fec_corrected_bit_errors:ratio_rate', expressions.bitErrorRatio('%(rate)s')),
  lib.record('netdev:rdma_netdev_fec_uncorrectable_blocks:ratio_rate', |||
    rate(rdma_netdev_fec_blocks_total{result="uncorrectable"}[%(rate)s])
      * ignoring (result) group_left () rdma_netdev_fec_codeword_bytes
      / ignoring (result) group_left () rdma_netdev_fec_line_bytes_per_second
  |||),

  lib.record('device_type:rdma_resource_objects:ratio', 'rdma_resource_objects / (rdma_resource_objects_limit > 0)'),

  // What a port could not send for lack of credits, with the model, because the length of a tick is the adapter's.
  lib.record('port:rdma_port_transmit_wait_ticks:rate', |||
    (
      rate(rdma_port_transmit_wait_ticks_total[%(rate)s])
      and on (%(target)s, device, port) rdma_port_info{link_layer="InfiniBand"}
    )
      * on (%(target)s, device) group_left (vendor_id, device_id) rdma_device_info{vendor_id!=""}
  |||),

  // PCIe speed times width, with the model: cards of one model in one job should have the same. Not all drivers have a
  // board_id; cards without one are told apart by vendor_id and device_id.
  lib.record('device:rdma_device_pcie_transfers_per_second:product', |||
    rdma_device_pcie_speed_transfers_per_second * rdma_device_pcie_width_lanes
      * on (%(target)s, device) group_left (vendor_id, device_id, board_id) rdma_device_info{is_vf!="1",vendor_id!=""}
  |||),

  // Settings, with the model of the adapter, so that peers can be compared. Virtual devices have no model.
  lib.record('port:rdma_port_active_mtu_bytes:by_model', |||
    (rdma_port_active_mtu_bytes and on (%(target)s, device, port) rdma_port_up == 1)
      * on (%(target)s, device) group_left (vendor_id, device_id) rdma_device_info{vendor_id!=""}
  |||),
  // How many a host has, or had within the day: one that is away for a while is not missing here, but lost.
  lib.record('instance:rdma_device_info:count', |||
    count by (%(target)s) (last_over_time(device:rdma_device_info:max{vendor_id!=""}[%(hold)s])) and on (%(target)s) rdma_exporter_build_info
  |||),
  lib.record('device:rdma_device_info:lost', |||
    max by (%(target)s, device) (last_over_time(device:rdma_device_info:max[%(hold)s]))
    unless on (%(target)s, device) rdma_device_info
    unless on (%(target)s, device) rdma_exporter_collector_failing{collector="device"}
    and on (%(target)s) rdma_exporter_build_info
  |||),
  lib.record('netdev_priority:rdma_dcb_pfc_enabled:by_model', |||
    rdma_dcb_pfc_enabled * on (%(target)s, device) group_left (vendor_id, device_id) rdma_device_info{vendor_id!=""}
  |||),

  // Share of a switch's ports that go to devices of this name.
  lib.record('leaf_device:rdma_netdev_neighbor_info:ratio', |||
    count by (%(leaf)s, device) (rdma_netdev_neighbor_info)
      / on (%(leaf)s) group_left () count by (%(leaf)s) (rdma_netdev_neighbor_info)
  |||),

  // Ports that were ACTIVE in the days before.
  lib.record('port:rdma_port_up:down', |||
    rdma_port_up == 0
    and on (%(target)s, device, port) last_over_time(port:rdma_port_up:max[%(hold)s]) == 1
  |||),
  // Those of them that nobody disabled: InfiniBand says so in the port's state, Ethernet in the interface's.
  lib.record('port:rdma_port_up:failed', |||
    port:rdma_port_up:down
    unless on (%(target)s, device, port) (
      rdma_port_physical_state == 3 and on (%(target)s, device, port) rdma_port_info{link_layer="InfiniBand"}
    )
    unless on (%(target)s, device, port) (
      rdma_netdev_admin_up == 0 and on (%(target)s, device, port, netdev) rdma_port_info{link_layer="Ethernet"}
    )
  |||),

  // Covers all probes of a target; ports and hosts that are down have their own alerts. A target has the name of its
  // instance, without the port.
  lib.record('target_op:rdma_probe_failures:ratio_rate', |||
    (
      sum by (%(scope)s, target, op) (
        sum without (stage, reason) (rate(rdma_probe_failures_total[%(probe)s]))
          unless on (%(target)s, device, port) port:rdma_port_up:down
      )
      / (sum by (%(scope)s, target, op) (rate(rdma_probe_attempts_total[%(probe)s])) > 0)
    )
    unless on (%(scope)s, target) label_replace(port:rdma_port_up:down, "target", "$1", "%(instance)s", "([^:]+).*")
    unless on (%(scope)s, target) label_replace(up == 0, "target", "$1", "%(instance)s", "([^:]+).*")
  |||),
  // Those of the control connection. A host refuses its peers on a rail that is down, and the port has an alert of its own.
  lib.record('target:rdma_probe_control_failures:rate', |||
    sum by (%(scope)s, target) (
      rate(rdma_probe_control_failures_total{target!="",reason!="rejected_no_device"}[%(probe)s])
      or
      rate(rdma_probe_control_failures_total{target!="",reason="rejected_no_device"}[%(probe)s])
        unless on (%(scope)s, target) label_replace(port:rdma_port_up:down, "target", "$1", "%(instance)s", "([^:]+).*")
    )
  |||),
  // Relative to what should have been sent. A host that is down has its own alert.
  lib.record('target:rdma_probe_control_failures:ratio_rate', |||
    target:rdma_probe_control_failures:rate
    / (
      target:rdma_probe_control_failures:rate
      + (
        sum by (%(scope)s, target) (rate(rdma_probe_attempts_total{target!=""}[%(probe)s]))
        or 0 * target:rdma_probe_control_failures:rate
      ) > 0
    )
    unless on (%(scope)s, target) label_replace(up == 0, "target", "$1", "%(instance)s", "([^:]+).*")
  |||),
  lib.record('port_target_op:rdma_probe_rtt_seconds:p50_rate', lib.quantile(0.50, 'rdma_probe_rtt_seconds')),
  lib.record('port_target_op:rdma_probe_rtt_seconds:p99_rate', lib.quantile(0.99, 'rdma_probe_rtt_seconds')),
])
