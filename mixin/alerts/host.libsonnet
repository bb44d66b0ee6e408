// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// The receiving host: applications, memory, PCIe, the adapter itself.
function(lib) lib.group('rdma-host', [
  lib.alert(
    'RdmaReceiverNotReady',
    'rate(rdma_port_rnr_naks_total[%(window)s]) > %(threshold)s',
    'Receivers post too few receive buffers',
    |||
      {{ $value | humanize }} receiver-not-ready NAKs per second on {{ $labels.device }} port {{ $labels.port }} of
      {{ $labels.instance }} (direction {{ $labels.direction }}; rx: its peers were not ready, tx: it was not).
    |||,
  ),
  lib.alert(
    'RdmaNicReceiveDiscards',
    'rate(rdma_netdev_discards_total{direction="rx",reason=~"port|port_buffer"}[%(window)s]) > %(threshold)s',
    'An adapter drops received packets',
    |||
      {{ $labels.netdev }} ({{ $labels.device }} port {{ $labels.port }}) of {{ $labels.instance }} dropped {{ $value | humanize }} intact packets per second because its
      receive buffer was full.
    |||,
  ),
  lib.alert(
    'RdmaAccessErrors',
    'increase(rdma_port_access_errors_total[%(window)s]) > %(threshold)s',
    'RDMA requests were refused',
    |||
      {{ $value | printf "%.0f" }} requests failed on {{ $labels.device }} port {{ $labels.port }} of
      {{ $labels.instance }} with kind {{ $labels.kind }} (side {{ $labels.side }}): wrong key, permission, length or
      request. Either a bug or an attempted intrusion.
    |||,
  ),
  lib.alert(
    'RdmaCqeErrors',
    |||
      increase(rdma_port_cqe_errors_total[%(window)s])
        - increase(rdma_port_cqe_flush_errors_total[%(window)s]) > %(threshold)s
    |||,
    'Work requests complete with errors',
    |||
      {{ $value | humanize }} work requests ended with an error on {{ $labels.device }} port {{ $labels.port }} of
      {{ $labels.instance }} (side {{ $labels.side }}), not counting those flushed by a teardown.
    |||,
  ),
  lib.alert(
    'RdmaTemperatureHigh',
    'rdma_netdev_temperature_celsius > rdma_netdev_temperature_critical_celsius - %(margin)s',
    'An adapter or a transceiver is too hot',
    |||
      Sensor {{ $labels.sensor }} of {{ $labels.netdev }} ({{ $labels.device }} port {{ $labels.port }}) on {{ $labels.instance }} reads {{ $value }} degrees Celsius, near or above
      its critical threshold.
    |||,
  ),
  lib.alert(
    'RdmaPcieBackpressure',
    'rate(rdma_netdev_pcie_stall_seconds_total[%(window)s]) > %(threshold)s',
    'PCIe slows an adapter down',
    |||
      In {{ $value | humanizePercentage }} of all seconds, {{ $labels.netdev }} ({{ $labels.device }} port {{ $labels.port }}) of {{ $labels.instance }} spent more than 30 % of the
      second waiting for PCIe ({{ $labels.operation }}).
    |||,
  ),
  lib.alert(
    'RdmaPcieBufferOverflow',
    'increase(rdma_netdev_discards_total{reason="pcie_buffer"}[%(window)s]) > %(threshold)s',
    'An adapter dropped packets because PCIe was too slow',
    |||
      {{ $labels.netdev }} ({{ $labels.device }} port {{ $labels.port }}) of {{ $labels.instance }} dropped {{ $value | humanize }} received packets because PCIe
      did not accept them in time.
    |||,
  ),
  lib.alert(
    'RdmaPcieDegraded',
    |||
      device:rdma_device_pcie_transfers_per_second:product
        < on (%(scope)s, vendor_id, device_id, board_id) group_left last_over_time(model:rdma_device_pcie_transfers_per_second:max[%(hold)s])
    |||,
    'An adapter has a slower PCIe link than others of its model',
    |||
      {{ $labels.device }} of {{ $labels.instance }} has {{ $value | humanize }} transfers per second (speed times
      lanes); the best of model {{ with $labels.board_id }}{{ . }}, {{ end }}{{ $labels.vendor_id }}:{{ $labels.device_id }} in this job has
      more.
    |||,
  ),
])
