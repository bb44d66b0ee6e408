// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Host: one host at a glance. Open this when an alert names a host, or one was clicked on.
function(config)
  local g = (import 'lib.libsonnet')(config);
  local parts = (import 'parts.libsonnet')(config);

  local portName = parts.portName;
  local netdevName = parts.netdevName;
  local rate = parts.rate;
  local increase = parts.increase;
  local onOff = { '0': { text: 'off', color: 'blue' }, '1': { text: 'on', color: 'green' } };
  local verdicts = { '1': { text: 'warning', color: 'orange' }, '2': { text: 'critical', color: 'red' } };

  local alive = g.row('Alive', [
    parts.state,
    parts.speed,
    g.stat('RDMA MTU', 6) + g.unit('bytes') + g.named
    + g.text('RDMA path MTU. 4096 needs an interface MTU of at least 4200.',
             'Set the same interface MTU on all hosts, and a higher one on the switches.')
    + g.instant('rdma_port_active_mtu_bytes{%(port)s}', portName) + g.seeAlert('RdmaMtuMismatch')
    + g.empty('No selected port found, or the exporter may not open its verbs device'),
    parts.linkLost,
    parts.timeline,
  ]);

  local doing = g.row('Doing', [parts.throughput, parts.utilization]);

  local wrong = g.row('Wrong', [
    g.table('Which alerts fire', 24, 6) + g.unit('none')
    + g.text('Firing alerts of this host.', 'Each alert has a runbook: follow the link in the notification.')
    + g.firing
    + g.toPort('Device', 'Device'),

    g.timeseries('Time paused, by interface') + g.unit('percentunit')
    + g.text(|||
               Share of the time for which the worst priority of an interface was paused. Above zero
               (tx): this host pauses the other end. Below zero (rx): this host is paused.
             |||,
             'Open RDMA / Port for the priorities and the other counters of the port.')
    + g.query('max by (job, instance, device, netdev) (%s)' % rate('rdma_pfc_pause_seconds_total', '%(port)s,direction="tx"'), netdevName + ' tx')
    + g.query('max by (job, instance, device, netdev) (%s)' % rate('rdma_pfc_pause_seconds_total', '%(port)s,direction="rx"'), netdevName + ' rx')
    + g.receivedBelowZero
    + g.alert('RdmaPfcStorm') + g.alert('RdmaPfcStormTransmitted') + g.alertBelowZero('RdmaPfcPausedHigh')
    + g.notCounted('a driver that counts pause time'),

    g.timeseries('Lost connections, timeouts, NAKs') + g.unit('ops')
    + g.text(|||
               Signs of lost packets or connections by port: requests given up, missing
               acknowledgements, packets that peers report as missing, packets that arrived too
               early.
             |||,
             'Open RDMA / Port, row "loss and errors", for the port that stands out.')
    + g.query(rate('rdma_port_retries_exceeded_total') + ' > 0', portName + ' given up ({{kind}})')
    + g.query(rate('rdma_port_ack_timeouts_total') + ' > 0', portName + ' ACK timeouts')
    + g.query(rate('rdma_port_sequence_naks_total', '%(port)s,direction="rx"') + ' > 0', portName + ' NAKs')
    + g.query(rate('rdma_port_out_of_sequence_total') + ' > 0', portName + ' out of sequence')
    + g.alert('RdmaAckTimeouts') + g.seeAlert('RdmaRetriesExceeded') + g.seeAlert('RdmaSequenceNaks') + g.seeAlert('RdmaOutOfSequence')
    + g.empty('None: nothing is lost, or the driver counts none of these'),
  ]);

  local why = g.row('Why: the host', [
    g.timeseries('PCIe stalled') + g.unit('percentunit') + g.range(0)
    + g.text('Share of seconds in which PCIe stalled the requests of the card for more than 30 % of the second.',
             |||
               Reads: memory or IOMMU is slow. Writes: the host does not accept data fast enough.
               Check slot width, IOMMU, NUMA and power saving.
             |||)
    + g.query(rate('rdma_netdev_pcie_stall_seconds_total'), netdevName + ' {{operation}}') + g.alert('RdmaPcieBackpressure')
    + g.notCounted('a driver that counts PCIe stalls (mlx5 does)'),

    g.timeseries('PCIe link') + g.unit('percentunit') + g.range(0, 1)
    + g.text('Lanes and speed of the PCIe link as a share of what the card supports.',
             'Below 100 %, suspect the slot, the riser, or a badly seated card.')
    + g.query('rdma_device_pcie_width_lanes{%(device)s} / rdma_device_pcie_max_width_lanes{%(device)s}', '{{instance}} {{device}} width')
    + g.query('rdma_device_pcie_speed_transfers_per_second{%(device)s} / rdma_device_pcie_max_speed_transfers_per_second{%(device)s}',
              '{{instance}} {{device}} speed')
    + g.seeAlert('RdmaPcieDegraded')
    + g.notCounted('a PCIe link: virtual and software devices have none'),

    g.timeseries('Packets dropped by the card') + g.unit('pps')
    + g.text(|||
               Intact packets that the card dropped, and why. pcie_buffer: PCIe was too slow.
               port_buffer: the buffer was full. no_receive_buffer: the host had posted none
               (Ethernet).
             |||,
             'Check RDMA / Port for drops in lossless priorities: PFC should prevent them.')
    + g.query(rate('rdma_netdev_discards_total') + ' > 0', netdevName + ' {{direction}} {{reason}}')
    + g.alert('RdmaNicReceiveDiscards') + g.seeAlert('RdmaPcieBufferOverflow')
    + g.empty('None, or the driver does not count them'),

    g.timeseries('Temperature') + g.unit('celsius')
    + g.text('Temperature of the chip and, where the driver reports it, of the optical modules.',
             |||
               Near the critical value the card slows down or switches itself off: check airflow,
               fans and neighbouring cards.
             |||)
    + g.query('rdma_netdev_temperature_celsius{%(port)s}', netdevName + ' {{sensor}}')
    + g.empty('The driver reports no temperatures'),
  ]);

  local cable = g.folded('Why: the cable', [
    g.timeseries('Light that modules receive') + g.unit('watt')
    + g.text('Received optical power of each lane; 1 mW is 0 dBm. Needs the collector `module`.',
             'If one lane is below the others, suspect dirt on a fibre or a laser at the other end.')
    + g.query('rdma_netdev_module_rx_power_watts{%(port)s}', netdevName + ' lane {{lane}}')
    + g.seeAlert('RdmaModulePowerLow') + g.seeAlert('RdmaModulePowerHigh') + g.seeAlert('RdmaModuleLaneImbalance')
    + g.empty('The collector `module` is off, or no module measures light'),

    g.timeseries('Temperature of modules') + g.unit('celsius')
    + g.text('Measured inside the transceivers. Needs the collector `module`.', 'Most manufacturers allow 70 degrees.')
    + g.query('rdma_netdev_module_temperature_celsius{%(port)s}', netdevName)
    + g.seeAlert('RdmaModuleTemperatureHigh')
    + g.empty('The collector `module` is off, or no module measures it'),

    g.timeseries('Supply voltage of modules') + g.unit('volt')
    + g.text('Measured inside the transceivers. Needs the collector `module`.', 'Most modules need 3.3 V, plus or minus 5 %.')
    + g.query('rdma_netdev_module_supply_volts{%(port)s}', netdevName)
    + g.seeAlert('RdmaModuleVoltageOutOfRange')
    + g.empty('The collector `module` is off, or no module measures it'),

    g.timeseries('Bias of lasers') + g.unit('amp')
    + g.text('Current of the laser of each lane. Needs the collector `module`.',
             'It rises over months as a laser ages; a lane above the others is likely to fail next.')
    + g.query('rdma_netdev_module_tx_bias_amperes{%(port)s}', netdevName + ' lane {{lane}}')
    + g.seeAlert('RdmaModuleBiasOutOfRange')
    + g.empty('The collector `module` is off, or no module measures it'),

    g.table('Switch ports', 24, 7) + g.unit('none')
    + g.text('The switch port at the other end, as announced over LLDP. Needs the collector `neighbor`.',
             'Compare with the cabling plan.')
    + g.rows('max by (job, instance, netdev, system_name, port_id, port_description) (rdma_netdev_neighbor_info{%(port)s})')
    + g.columns([
      ['instance', 'Host'],
      ['netdev', 'Interface'],
      ['system_name', 'Switch'],
      ['port_id', 'Switch port'],
      ['port_description', 'Description'],
    ])
    + g.seeAlert('RdmaNeighborChanged') + g.seeAlert('RdmaNeighborShared') + g.seeAlert('RdmaRailOnWrongLeaf')
    + g.empty('The collector `neighbor` is off, or no switch sends LLDP'),
  ]);

  local below = g.row('Below: slot and firmware', [
    g.timeseries('PCIe errors', 12) + g.unit('cps')
    + g.text(|||
               Error messages of the adapter (function), of the port above it, and of the root port.
             |||,
             |||
               Persistent correctable errors: suspect contact, riser or slot. Others: a transaction
               was lost; see the runbook.
             |||)
    + g.query(rate('rdma_device_pcie_error_messages_total', '%(device)s') + ' > 0', '{{instance}} {{device}} {{end}} {{level}}')
    + g.query(rate('rdma_device_pcie_root_error_messages_total', '%(device)s') + ' > 0', '{{instance}} {{device}} root {{level}}')
    + g.alert('RdmaPcieCorrectableHigh') + g.seeAlert('RdmaPcieUncorrectable')
    + g.empty('None, or the kernel cannot see them (rdma_device_pcie_aer_native 0)'),

    g.timeseries('Health reporters', 12) + g.unit('short')
    + g.text("Errors that the driver's health reporters recorded within ten minutes.",
             |||
               fw, fw_fatal: the firmware. tx, rx: queues of the interface. `devlink health show` on
               the host has details.
             |||)
    + g.query('increase(rdma_device_health_errors_total{%(device)s}[10m]) > 0', '{{instance}} {{device}} {{reporter}}')
    + g.query('increase(rdma_netdev_health_errors_total{%(port)s}[10m]) > 0', '{{instance}} {{netdev}} {{reporter}}')
    + g.seeAlert('RdmaFirmwareFault') + g.seeAlert('RdmaQueueRecoveries')
    + g.empty('None, or the driver has no health reporters'),

    g.table('Firmware that waits for a reset', 24, 6) + g.unit('none')
    + g.text('Components whose stored version differs from the running one.', 'Plan a reset of the adapter, which activates the stored version.')
    + g.rows(|||
      rdma_device_firmware_version_info{%(device)s}
        and on (job, instance, device, component) (rdma_device_firmware_update_pending{%(device)s} == 1)
    |||)
    + g.columns([['instance', 'Host'], ['device', 'Device'], ['component', 'Component'], ['running', 'Running'], ['stored', 'Stored']])
    + g.seeAlert('RdmaFirmwareUpdatePending')
    + g.empty('None, or the driver does not report versions'),
  ]);

  local configuration = g.folded('Why: the configuration', [
    g.table('Config checks', 24, 7) + g.unit('none')
    + g.text('Configuration checks that are not ok, and the device that they concern.',
             'Run `rdma_exporter doctor` on the host for evidence and advice; docs/DOCTOR.md describes all checks.')
    + g.rows('max by (job, instance, check, device) (rdma_config_check{%(host)s}) > 0')
    + g.columns([['instance', 'Host'], ['check', 'Check'], ['device', 'Device'], ['Value', 'Verdict']])
    + g.sortBy('Verdict') + g.mappings(verdicts) + g.seeAlert('RdmaConfigCheckFailed')
    + g.empty('All checks are ok, or the collector `config_check` is off'),

    g.table('PFC by priority', 12, 7) + g.unit('none')
    + g.text('Priorities for which flow control is on. RoCE usually uses 3.',
             'It must be the same on all hosts and on the switch ports.')
    + g.rows('label_join(rdma_dcb_pfc_enabled{%(port)s}, "interface", " ", "instance", "netdev")')
    + g.matrix('interface', 'priority', 'Value') + g.mappings(onOff)
    + g.coloredNumbers() + g.override('byRegexp', '/interface/', { 'custom.width': 130 })
    + g.seeAlert('RdmaPfcConfigMismatch')
    + g.notCounted('an interface with DCB'),

    g.table('Ports and interfaces', 12, 7) + g.unit('none')
    + g.text('The network interface of each port, with its driver and firmware.', 'Use these names in ethtool, dcb and rdma commands.')
    + g.rows('rdma_netdev_info{%(port)s}')
    + g.columns([
      ['instance', 'Host'],
      ['device', 'Device'],
      ['port', 'Port'],
      ['netdev', 'Interface'],
      ['role', 'Role'],
      ['driver', 'Driver'],
      ['firmware_version', 'Firmware'],
      ['bus_address', 'PCI'],
    ])
    + g.empty('No selected port has a network interface: InfiniBand has none'),
  ]);

  g.dashboard('rdma-host',
              'Host',
              'One host at a glance: ports, alerts, traffic, pause, loss, PCIe and configuration.',
              [alive, doing, wrong, why, cable, below, configuration],
              one=true)
