// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// The adapter and its slot: PCIe errors, firmware.

// The port above a card, and its root port, are shown by each function of the card: one alert for each device.
// The root port's own series have no `end`.
local address = '{{ $labels.pci_address }}{{ with $labels.end }} ({{ . }}){{ end }}';

function(lib) lib.group('rdma-adapter', [
  lib.alert(
    'RdmaPcieUncorrectable',
    |||
      increase(rdma_device_pcie_error_messages_total{level=~"nonfatal|fatal"}[%(window)s]) > %(threshold)s
      or increase(rdma_device_pcie_root_error_messages_total{level="fatal"}[%(window)s]) > %(threshold)s
    |||,
    'An adapter lost a PCIe transaction',
    |||
      {{ $value | printf "%%.0f" }} {{ $labels.level }} PCIe errors within ten minutes at %(address)s, on the path to
      {{ $labels.device }} of {{ $labels.instance }}. A fatal error resets the link, and the device disappears for a while.
    ||| % { address: address },
  ),
  lib.alert(
    'RdmaPcieCorrectableHigh',
    'rate(rdma_device_pcie_error_messages_total{level="correctable"}[%(window)s]) > %(threshold)s',
    'The PCIe link of an adapter retransmits packets',
    |||
      {{ $value | humanize }} correctable PCIe errors per second at %(address)s, on the path to {{ $labels.device }} of
      {{ $labels.instance }}. Likely a bad contact, riser or slot.
    ||| % { address: address },
  ),
  // mlx5's fw has no recovery: it stays in error until the driver is reloaded.
  lib.alert(
    'RdmaFirmwareFault',
    |||
      increase(rdma_device_health_errors_total[%(window)s]) > %(threshold)s
      or rdma_device_health_error{reporter!="fw"} == 1
    |||,
    'The firmware of an adapter reported a fault',
    |||
      Health reporter {{ $labels.reporter }} of {{ $labels.device }} on {{ $labels.instance }} reported a fault within ten
      minutes, or an earlier one from which the adapter has not recovered.
    |||,
  ),
  lib.alert(
    'RdmaQueueRecoveries',
    |||
      increase(rdma_netdev_health_errors_total[%(window)s]) > %(threshold)s
      or rdma_netdev_health_error == 1
    |||,
    'Queues of an interface fail repeatedly, or do not recover',
    |||
      Queues of {{ $labels.netdev }} ({{ $labels.device }} port {{ $labels.port }}) on {{ $labels.instance }} failed again
      and again within ten minutes, or have not recovered from the last failure: health reporter {{ $labels.reporter }}.
    |||,
  ),
  lib.alert(
    'RdmaFirmwareUpdatePending',
    'rdma_device_firmware_update_pending == 1',
    'An adapter needs a reset to activate its new firmware',
    |||
      {{ $labels.device }} of {{ $labels.instance }} runs a different version of {{ $labels.component }} from the one in its
      flash.
    |||,
  ),
])
