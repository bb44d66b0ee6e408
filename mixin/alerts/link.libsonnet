// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Devices, ports, cables.

// How often a link went down, whoever counts it: the kernel, the driver or, on InfiniBand, the port. Several of them may
// count the same event; equal labels make it one alert.
local link_downs = |||
  max without (to) (increase(rdma_netdev_carrier_changes_total{to="down"}[%(window)s])) > %(threshold)s
  or increase(rdma_netdev_link_down_events_total[%(window)s]) > %(threshold)s
  or (
    increase(rdma_port_link_downed_total[%(window)s]) > %(threshold)s
    and on (%(target)s, device, port) rdma_port_info{link_layer="InfiniBand"}
  )
|||;

local where = '{{ with $labels.netdev }}{{ . }} ({{ $labels.device }} port {{ $labels.port }}){{ else }}'
              + '{{ $labels.device }} port {{ $labels.port }}{{ end }}';

function(lib) lib.group('rdma-link', [
  lib.alert(
    'RdmaPortsDown',
    |||
      count by (%(scope)s, device) (port:rdma_port_up:failed)
        / count by (%(scope)s, device) (last_over_time(port:rdma_port_up:max[%(hold)s]) == 1) > %(threshold)s
      and count by (%(scope)s, device) (port:rdma_port_up:failed) >= %(ports)s
    |||,
    'Many RDMA ports of a rail are down',
    |||
      {{ $value | humanizePercentage }} of the ports of {{ $labels.device }} in job {{ $labels.job }} are not ACTIVE but were
      in the last few days. Several at once point to a switch, a rollout or the subnet manager.
    |||,
  ),
  lib.alert(
    'RdmaPortDown',
    'port:rdma_port_up:failed * on (%(target)s, device, port) group_left (netdev) rdma_port_info',
    'An RDMA port is down',
    |||
      Port {{ $labels.port }} of {{ $labels.device }}{{ with $labels.netdev }} ({{ . }}){{ end }} on
      {{ $labels.instance }} is not ACTIVE but was in the last few days.
    |||,
  ),
  // Devices that the exporter served within the last day. Virtual functions move into pods and back, and so may whole
  // devices: where many hosts lacked theirs half an hour ago, that is how the cluster works. When many lose theirs at once,
  // the alert has half an hour to fire.
  lib.alert(
    'RdmaDeviceLost',
    |||
      device:rdma_device_info:lost
      unless on (%(scope)s, device) (
        count by (%(scope)s, device) (device:rdma_device_info:lost offset 30m) >= %(hosts)s
        and on (%(scope)s, device)
        count by (%(scope)s, device) (device:rdma_device_info:lost offset 30m)
          / count by (%(scope)s, device) (last_over_time(device:rdma_device_info:max[%(hold)s])) > %(threshold)s
      )
    |||,
    'An RDMA device has disappeared',
    |||
      {{ $labels.device }} of {{ $labels.instance }} is gone although the exporter runs: the kernel no longer lists it. Suspect PCIe,
      firmware or the driver, unless the device was removed on purpose.
    |||,
  ),
  lib.alert(
    'RdmaLinkFlapping',
    link_downs,
    'A link is flapping',
    |||
      The link of %(where)s on {{ $labels.instance }} went down {{ $value | printf "%%.0f" }} times within ten minutes. Each
      time, connections die.
    ||| % { where: where },
  ),
  lib.alert(
    'RdmaPortSpeedDegraded',
    |||
      rdma_port_rate_bytes_per_second
        < on (%(target)s, device, port) group_left last_over_time(port:rdma_port_rate_bytes_per_second:max[%(hold)s])
    |||,
    'An RDMA port is slower than it was',
    |||
      Port {{ $labels.port }} of {{ $labels.device }} on {{ $labels.instance }} runs at {{ $value | humanize }}B/s, less
      than in the last few days.
    |||,
  ),
  lib.alert(
    'RdmaLinkErrorRecovery',
    'rate(rdma_port_link_recoveries_total[%(window)s]) * 60 > %(threshold)s',
    'A link retrains repeatedly',
    |||
      Port {{ $labels.port }} of {{ $labels.device }} on {{ $labels.instance }} recovers from link errors
      {{ $value | humanize }} times a minute; traffic stops each time.
    |||,
  ),
  lib.alert(
    'RdmaSymbolErrors',
    |||
      rate(rdma_port_symbol_errors_total[%(window)s]) > %(threshold)s
      or rate(rdma_netdev_pcs_symbol_errors_total[%(window)s]) > %(threshold)s
      or rate(rdma_netdev_symbol_errors_total[%(window)s]) > %(threshold)s
      or (
        rate(rdma_port_symbol_errors_total[%(window)s]) > %(infiniband)s / 3600
        and on (%(target)s, device, port) rdma_port_info{link_layer="InfiniBand"}
      )
    |||,
    'Symbol errors on a link',
    |||
      {{ $value | humanize }} symbol errors per second on %(where)s of {{ $labels.instance }}. Suspect the cable,
      connector or transceiver.
    ||| % { where: where },
  ),
  lib.alert(
    'RdmaFecUncorrectable',
    'increase(rdma_netdev_fec_blocks_total{result="uncorrectable"}[%(window)s]) > %(threshold)s',
    'A link lost data that FEC could not correct',
    |||
      {{ $value | printf "%.0f" }} uncorrectable FEC blocks on {{ $labels.netdev }} ({{ $labels.device }} port {{ $labels.port }}) of {{ $labels.instance }}.
    |||,
  ),
  lib.alert(
    'RdmaPreFecBerHigh',
    |||
      netdev:rdma_netdev_fec_corrected_bit_errors:ratio_rate > %(share)s * rdma_netdev_fec_bit_error_limit_ratio
      or netdev:rdma_netdev_fec_corrected_bit_errors:ratio_rate > %(threshold)s
    |||,
    'The FEC of a link is near its limit',
    |||
      The bit error rate of {{ $labels.netdev }} ({{ $labels.device }} port {{ $labels.port }}) on {{ $labels.instance }} before FEC is
      {{ $value | printf "%.1e" }}. Plan to clean or replace the cable or transceiver.
    |||,
  ),
  lib.alert(
    'RdmaModuleTemperatureHigh',
    |||
      rdma_netdev_module_temperature_celsius
        > on (%(target)s, device, port, netdev)
        rdma_netdev_module_temperature_threshold_celsius{level="high_warning"}
    |||,
    'A transceiver is above its temperature warning threshold',
    |||
      The module in {{ $labels.device }} port {{ $labels.port }} ({{ $labels.netdev }}) of {{ $labels.instance }} is at
      {{ $value | printf "%.1f" }} degrees Celsius, above its own warning threshold.
    |||,
  ),
  lib.alert(
    'RdmaModuleVoltageOutOfRange',
    |||
      rdma_netdev_module_supply_volts
        > on (%(target)s, device, port, netdev)
        rdma_netdev_module_supply_threshold_volts{level="high_warning"}
      or
      rdma_netdev_module_supply_volts
        < on (%(target)s, device, port, netdev)
        rdma_netdev_module_supply_threshold_volts{level="low_warning"}
    |||,
    'The supply voltage of a transceiver is outside its limits',
    |||
      The module in {{ $labels.device }} port {{ $labels.port }} ({{ $labels.netdev }}) of {{ $labels.instance }} measures
      {{ $value | printf "%.2f" }} V, outside its own warning thresholds: the adapter supplies it badly, or its sensor is wrong.
    |||,
  ),
  // A laser that is off has no bias: not a fault where the port is down.
  lib.alert(
    'RdmaModuleBiasOutOfRange',
    |||
      (
        rdma_netdev_module_tx_bias_amperes
          > on (%(target)s, device, port, netdev) group_left ()
          rdma_netdev_module_tx_bias_threshold_amperes{level="high_warning"}
        or
        rdma_netdev_module_tx_bias_amperes
          < on (%(target)s, device, port, netdev) group_left ()
          rdma_netdev_module_tx_bias_threshold_amperes{level="low_warning"}
      )
      and on (%(target)s, device, port) rdma_port_up == 1
    |||,
    'The bias current of a laser is outside its limits',
    |||
      The laser of lane {{ $labels.lane }} of {{ $labels.device }} port {{ $labels.port }} ({{ $labels.netdev }}) on
      {{ $labels.instance }} takes {{ $value | humanize }}A, outside the module's own warning thresholds. An ageing laser
      needs more and more current for the same light.
    |||,
  ),
  // No light is not a fault where the port is down.
  lib.alert(
    'RdmaModulePowerLow',
    |||
      (
        rdma_netdev_module_rx_power_watts
          < on (%(target)s, device, port, netdev) group_left ()
          rdma_netdev_module_rx_power_threshold_watts{level="low_warning"}
        or
        rdma_netdev_module_tx_power_watts
          < on (%(target)s, device, port, netdev) group_left ()
          rdma_netdev_module_tx_power_threshold_watts{level="low_warning"}
      )
      and on (%(target)s, device, port) rdma_port_up == 1
    |||,
    'A lane of an optical link has too little light',
    |||
      Lane {{ $labels.lane }} of {{ $labels.device }} port {{ $labels.port }} ({{ $labels.netdev }}) on {{ $labels.instance }}
      receives or sends {{ $value | humanize }}W, below the module's own warning threshold: a dirty or bent fibre, or a failing laser.
    |||,
  ),
  lib.alert(
    'RdmaModulePowerHigh',
    |||
      rdma_netdev_module_rx_power_watts
        > on (%(target)s, device, port, netdev) group_left ()
        rdma_netdev_module_rx_power_threshold_watts{level="high_warning"}
      or
      rdma_netdev_module_tx_power_watts
        > on (%(target)s, device, port, netdev) group_left ()
        rdma_netdev_module_tx_power_threshold_watts{level="high_warning"}
    |||,
    'A lane of an optical link has too much light',
    |||
      Lane {{ $labels.lane }} of {{ $labels.device }} port {{ $labels.port }} ({{ $labels.netdev }}) on {{ $labels.instance }}
      receives or sends {{ $value | humanize }}W, above the module's own warning threshold: a link too short for its modules, or
      a failing laser.
    |||,
  ),
  lib.alert(
    'RdmaModuleLaneImbalance',
    |||
      max by (%(target)s, device, port, netdev) (rdma_netdev_module_rx_power_watts)
        / (min by (%(target)s, device, port, netdev) (rdma_netdev_module_rx_power_watts) > 0) > %(factor)s
      and on (%(target)s, device, port) rdma_port_up == 1
    |||,
    'One lane of an optical link receives much less light than another',
    |||
      The brightest lane of {{ $labels.device }} port {{ $labels.port }} ({{ $labels.netdev }}) on {{ $labels.instance }}
      receives {{ $value | printf "%.1f" }} times as much light as the dimmest: a dirty fibre, or a weak laser at the far end.
    |||,
  ),
  // A new neighbour, and the one from an hour ago is gone. A host back from maintenance has no value from an hour ago.
  lib.alert(
    'RdmaNeighborChanged',
    |||
      rdma_netdev_neighbor_info
        unless on (%(target)s, device, port, netdev, chassis_id, port_id) (rdma_netdev_neighbor_info offset 1h)
        and on (%(target)s, device, port, netdev) (
          (rdma_netdev_neighbor_info offset 1h)
          unless on (%(target)s, device, port, netdev, chassis_id, port_id) rdma_netdev_neighbor_info
        )
    |||,
    'An RDMA port has moved to a different switch port',
    |||
      {{ $labels.device }} port {{ $labels.port }} ({{ $labels.netdev }}) of {{ $labels.instance }} is now connected to
      {{ $labels.system_name }} {{ $labels.port_id }} ({{ $labels.chassis_id }}); an hour ago it was elsewhere. Was it recabled?
    |||,
  ),
  lib.alert(
    'RdmaNeighborShared',
    'count by (%(target)s, chassis_id, port_id) (rdma_netdev_neighbor_info) > 1',
    'Several interfaces of a host see the same switch port',
    |||
      {{ $value }} interfaces of {{ $labels.instance }} receive LLDP from port {{ $labels.port_id }} of switch {{ $labels.chassis_id }}:
      a misplaced cable, a device in between that forwards LLDP, or several functions of one adapter.
    |||,
  ),
  // A switch most of whose ports connect devices of one name is the leaf of that rail. Where the rails of a host share a
  // switch, no name is that frequent, and the alert stays silent. No label has to tell which hosts share a leaf.
  lib.alert(
    'RdmaRailOnWrongLeaf',
    |||
      max by (%(target)s, device, port, netdev, chassis_id, port_id, system_name) (rdma_netdev_neighbor_info)
        unless on (%(leaf)s, device) (leaf_device:rdma_netdev_neighbor_info:ratio >= %(majority)s)
        and on (%(leaf)s) (leaf_device:rdma_netdev_neighbor_info:ratio >= %(majority)s)
        and on (%(leaf)s) count by (%(leaf)s) (rdma_netdev_neighbor_info) >= %(ports)s
    |||,
    'An RDMA port is connected to the leaf of another rail',
    |||
      {{ $labels.device }} port {{ $labels.port }} ({{ $labels.netdev }}) of {{ $labels.instance }} is connected to {{ $labels.port_id }}
      of {{ $labels.system_name }} ({{ $labels.chassis_id }}), where almost all other ports connect devices of another name:
      swapped cables, or devices numbered differently on this host.
    |||,
  ),
  lib.alert(
    'RdmaTransmitWaitHigh',
    |||
      port:rdma_port_transmit_wait_ticks:rate
        > on (%(peers)s) group_left () (%(factor)s * quantile by (%(peers)s) (0.5, port:rdma_port_transmit_wait_ticks:rate))
      and port:rdma_port_transmit_wait_ticks:rate > %(floor)s
    |||,
    'The fabric holds an InfiniBand port back',
    |||
      Port {{ $labels.port }} of {{ $labels.device }} on {{ $labels.instance }} had data to send but no credits for
      {{ $value | humanize }} ticks per second, far more than most ports of this adapter model
      ({{ $labels.vendor_id }}:{{ $labels.device_id }}).
    |||,
  ),
  lib.alert(
    'RdmaReceiveErrors',
    |||
      rate(rdma_port_receive_errors_total[%(window)s]) > %(threshold)s
      or rate(rdma_netdev_mac_errors_total{direction="rx",error=~"fcs|alignment|internal"}[%(window)s]) > %(threshold)s
    |||,
    'Corrupted packets arrive on a link',
    |||
      {{ $value | humanize }} corrupted packets per second on %(where)s of {{ $labels.instance }}.
    ||| % { where: where },
  ),
  lib.alert(
    'RdmaTransmitDiscards',
    'rate(rdma_port_transmit_discards_total[%(window)s]) > %(threshold)s',
    'A port drops outgoing packets',
    |||
      Port {{ $labels.port }} of {{ $labels.device }} on {{ $labels.instance }} dropped {{ $value | humanize }}
      outgoing packets per second: the port is down or the fabric blocks it.
    |||,
  ),
])
