// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Devices, ports, cables.

// Times that a link went down, by whoever counts it: the kernel, the driver, on InfiniBand the port. More than one of
// them may see the same event of an interface; equal labels make it one alert.
local link_downs = |||
  max without (to) (increase(rdma_netdev_carrier_changes_total{to="down"}[%(window)s])) > %(threshold)s
  or increase(rdma_link_down_events_total[%(window)s]) > %(threshold)s
  or increase(rdma_netdev_link_down_events_total[%(window)s]) > %(threshold)s
  or (
    increase(rdma_port_link_downed_total[%(window)s]) > %(threshold)s
    and on (%(target)s, device, port) rdma_port_info{link_layer="InfiniBand"}
  )
|||;

local where = '{{ if $labels.netdev }}{{ $labels.netdev }}{{ else }}'
              + '{{ $labels.device }} port {{ $labels.port }}{{ end }}';

function(lib) lib.group('rdma-link', [
  lib.alert(
    'RdmaPortsDown',
    |||
      count by (%(scope)s, device) (port:rdma_port_up:down)
        / count by (%(scope)s, device) (last_over_time(port:rdma_port_up:max[%(hold)s]) == 1) > %(threshold)s
      and count by (%(scope)s, device) (port:rdma_port_up:down) >= %(ports)s
    |||,
    'Many RDMA ports of a rail are down',
    |||
      {{ $value | humanizePercentage }} of the ports of {{ $labels.device }} in job {{ $labels.job }} are not ACTIVE; in the
      days before they were. Several at once are a switch, a roll-out or a subnet manager.
    |||,
  ),
  lib.alert(
    'RdmaPortDown',
    'port:rdma_port_up:down * on (%(target)s, device, port) group_left (netdev) rdma_port_info',
    'An RDMA port is down',
    |||
      Port {{ $labels.port }} of {{ $labels.device }}{{ with $labels.netdev }} ({{ . }}){{ end }} on
      {{ $labels.instance }} is not ACTIVE; in the days before it was.
    |||,
  ),
  // Devices that the exporter served within the day. Virtual functions are given to pods and taken back, and so may be whole
  // devices: where many hosts lacked theirs half an hour ago, that is how the cluster works. When many lose it at once,
  // there is half an hour to tell.
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
    'An RDMA device has vanished',
    |||
      {{ $labels.device }} of {{ $labels.instance }} is gone, although the exporter runs: the kernel no longer has it. PCIe,
      firmware or driver; or somebody took it away on purpose.
    |||,
  ),
  lib.alert(
    'RdmaLinkFlapping',
    link_downs,
    'A link goes down again and again',
    |||
      The link of %(where)s on {{ $labels.instance }} went down {{ $value | printf "%%.0f" }} times within ten minutes. Each
      time connections die.
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
      than in the days before.
    |||,
  ),
  lib.alert(
    'RdmaLinkErrorRecovery',
    'rate(rdma_port_link_recoveries_total[%(window)s]) * 60 > %(threshold)s',
    'A link trains again and again',
    |||
      Port {{ $labels.port }} of {{ $labels.device }} on {{ $labels.instance }} recovers from link errors
      {{ $value | humanize }} times a minute; each time traffic stands still.
    |||,
  ),
  lib.alert(
    'RdmaSymbolErrors',
    |||
      rate(rdma_port_symbol_errors_total[%(window)s]) > %(threshold)s
      or rate(rdma_symbol_errors_total[%(window)s]) > %(threshold)s
      or rate(rdma_netdev_symbol_errors_total[%(window)s]) > %(threshold)s
      or (
        rate(rdma_port_symbol_errors_total[%(window)s]) > %(infiniband)s / 3600
        and on (%(target)s, device, port) rdma_port_info{link_layer="InfiniBand"}
      )
    |||,
    'Symbol errors on a link',
    |||
      {{ $value | humanize }} symbol errors per second on %(where)s of {{ $labels.instance }}: cable, connector or
      transceiver.
    ||| % { where: where },
  ),
  lib.alert(
    'RdmaFecUncorrectable',
    |||
      increase(rdma_netdev_fec_blocks_total{result="uncorrectable"}[%(window)s]) > %(threshold)s
      or increase(rdma_fec_blocks_total{result="uncorrectable"}[%(window)s]) > %(threshold)s
    |||,
    'A link lost data that error correction could not repair',
    |||
      {{ $value | printf "%.0f" }} blocks were beyond repair on {{ $labels.netdev }} of {{ $labels.instance }}.
    |||,
  ),
  lib.alert(
    'RdmaPreFecBerHigh',
    |||
      rate(rdma_netdev_fec_corrected_bit_errors_total[%(window)s]) / (rdma_netdev_speed_bytes_per_second * 8) > %(threshold)s
      or rate(rdma_fec_corrected_bit_errors_total[%(window)s]) / (rdma_netdev_speed_bytes_per_second * 8) > %(threshold)s
    |||,
    'Error correction of a link is near its limit',
    |||
      The bit error rate of {{ $labels.netdev }} on {{ $labels.instance }} before correction is
      {{ $value | printf "%.1e" }}. Plan to clean or change the cable or transceiver.
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
      Port {{ $labels.port }} of {{ $labels.device }} on {{ $labels.instance }} had data to send and no credits for
      {{ $value | humanize }} ticks per second, far more than most ports of adapters of this model
      ({{ $labels.vendor_id }}:{{ $labels.device_id }}).
    |||,
  ),
  lib.alert(
    'RdmaReceiveErrors',
    |||
      rate(rdma_port_receive_errors_total[%(window)s]) > %(threshold)s
      or rate(rdma_netdev_mac_errors_total{direction="rx",error=~"fcs|alignment|internal"}[%(window)s]) > %(threshold)s
    |||,
    'Damaged packets arrive on a link',
    |||
      {{ $value | humanize }} damaged packets per second on %(where)s of {{ $labels.instance }}.
    ||| % { where: where },
  ),
  lib.alert(
    'RdmaTransmitDiscards',
    'rate(rdma_port_transmit_discards_total[%(window)s]) > %(threshold)s',
    'A port drops what it should send',
    |||
      Port {{ $labels.port }} of {{ $labels.device }} on {{ $labels.instance }} dropped {{ $value | humanize }}
      packets per
      second that it should have sent: the port is down or the fabric blocks it.
    |||,
  ),
])
