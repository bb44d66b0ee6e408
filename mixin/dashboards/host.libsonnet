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
  local netdevRate = parts.netdevRate;
  local increase = parts.increase;
  local onOff = { '0': { text: 'off', color: 'blue' }, '1': { text: 'on', color: 'green' } };
  local verdicts = { '1': { text: 'warning', color: 'orange' }, '2': { text: 'critical', color: 'red' } };

  local alive = g.row('Alive', [
    parts.state,
    parts.speed,
    g.stat('RDMA MTU', 6) + g.unit('bytes') + g.named
    + g.text('Path MTU of RDMA. 4096 needs an interface MTU of 4200 and more.',
             'Set the MTU of the interface, the same on all hosts and higher on the switches.')
    + g.instant('rdma_port_active_mtu_bytes{%(port)s}', portName) + g.seeAlert('RdmaMtuMismatch')
    + g.empty('No chosen port is known, or the exporter may not open its verbs device'),
    parts.linkLost,
    parts.timeline,
  ]);

  local doing = g.row('Doing', [parts.throughput, parts.utilization]);

  local wrong = g.row('Wrong', [
    g.table('Which alerts fire', 24, 6) + g.unit('none')
    + g.text('Alerts of this host that fire now.', 'Each has a runbook: follow the link in the notification.')
    + g.firing
    + g.toPort('Device', 'Device'),

    g.timeseries('Time paused, by interface') + g.unit('percentunit')
    + g.text(|||
               Share of time in which the worst priority of an interface stood still. Above zero (tx): this host keeps
               the other end paused. Below zero (rx): it is told to stop.
             |||,
             'Open RDMA / Port for the priorities, and for what the port does meanwhile.')
    + g.query('max by (job, instance, netdev) (%s)' % netdevRate('rdma_pfc_pause_seconds_total', ',direction="tx"'), netdevName + ' tx')
    + g.query('max by (job, instance, netdev) (%s)' % netdevRate('rdma_pfc_pause_seconds_total', ',direction="rx"'), netdevName + ' rx')
    + g.receivedBelowZero
    + g.alert('RdmaPfcStorm') + g.alert('RdmaPfcStormTransmitted') + g.alertBelowZero('RdmaPfcPausedHigh')
    + g.notCounted('a driver that counts the time of pause'),

    g.timeseries('Lost connections, timeouts, NAKs') + g.unit('ops')
    + g.text(|||
               What says that packets or connections are lost, by port: requests given up, acknowledgements that did
               not come, packets that peers miss, packets that came too early.
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
    + g.text('Share of seconds in which the card had requests for the host and could not send them for more than 30 % of the second.',
             |||
               Reads: memory or IOMMU slow. Writes: the host does not take data fast enough. Check slot width,
               IOMMU, NUMA, power saving.
             |||)
    + g.query(netdevRate('rdma_pcie_stall_seconds_total'), netdevName + ' {{operation}}') + g.alert('RdmaPcieBackpressure')
    + g.notCounted('a driver that counts it (mlx5 does)'),

    g.timeseries('PCIe link') + g.unit('percentunit') + g.range(0, 1)
    + g.text('Lanes and speed of the PCIe link, as a share of what the card can do.',
             'Below 100 %: wrong slot, riser or a card that is not seated well.')
    + g.query('rdma_device_pcie_width_lanes{%(device)s} / rdma_device_pcie_max_width_lanes{%(device)s}', '{{instance}} {{device}} width')
    + g.query('rdma_device_pcie_speed_transfers_per_second{%(device)s} / rdma_device_pcie_max_speed_transfers_per_second{%(device)s}',
              '{{instance}} {{device}} speed')
    + g.seeAlert('RdmaPcieDegraded')
    + g.notCounted('a PCIe link of its own: virtual and software devices have none'),

    g.timeseries('Packets dropped by the card') + g.unit('pps')
    + g.text(|||
               Packets without an error that the card dropped, and why. pcie_buffer: PCIe too slow. port_buffer: no
               room. no_receive_buffer: the host gave none (Ethernet).
             |||,
             'Any drop in a lossless priority (next panel) breaks the promise of PFC.')
    + g.query(netdevRate('rdma_netdev_discards_total') + ' > 0', netdevName + ' {{direction}} {{reason}}')
    + g.alert('RdmaNicReceiveDiscards') + g.seeAlert('RdmaPcieBufferOverflow')
    + g.empty('None dropped, or the driver does not count them'),

    g.timeseries('Temperature') + g.unit('celsius')
    + g.text('Chip of the card and, where the driver tells, its optical modules.',
             'Near the critical value the card slows down or turns itself off: air flow, fans, neighbours in the chassis.')
    + g.query(g.netdev('rdma_netdev_temperature_celsius{%(host)s}'), netdevName + ' {{sensor}}')
    + g.empty('The driver shows none'),
  ]);

  local configuration = g.folded('Why: the configuration', [
    g.table('Config checks', 24, 7) + g.unit('none')
    + g.text('Checks of the configuration that are not as they should be, and what they are about.',
             '`rdma_exporter doctor` on the host has the evidence, and says what to do; docs/DOCTOR.md has them all.')
    + g.rows('max by (job, instance, check, device) (rdma_config_check{%(host)s}) > 0')
    + g.columns([['instance', 'Host'], ['check', 'Check'], ['device', 'Device'], ['Value', 'Verdict']])
    + g.sortBy('Verdict') + g.mappings(verdicts) + g.seeAlert('RdmaConfigCheckFailed')
    + g.empty('All checks are well, or the collector config_check is off'),

    g.table('PFC by priority', 12, 7) + g.unit('none')
    + g.text('For which priorities flow control is on. RDMA over Ethernet mostly uses 3.',
             'It has to be the same on all hosts and on the switch ports.')
    + g.rows('label_join(%s, "interface", " ", "instance", "netdev")' % g.netdev('rdma_dcb_pfc_enabled{%(host)s}'))
    + g.matrix('interface', 'priority', 'Value') + g.mappings(onOff)
    + g.coloredNumbers() + g.override('byRegexp', '/interface/', { 'custom.width': 130 })
    + g.seeAlert('RdmaPfcConfigMismatch')
    + g.notCounted('an interface with DCB'),

    g.table('Ports and interfaces', 12, 7) + g.unit('none')
    + g.text('Which interface carries which port, its driver and firmware.', 'Use the names in ethtool, dcb and rdma commands.')
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
    + g.empty('No chosen port has a network interface: InfiniBand has none'),
  ]);

  g.dashboard('rdma-host',
              'Host',
              'One host at a glance: ports, alerts, traffic, pause, loss, PCIe and configuration.',
              [alive, doing, wrong, why, configuration],
              one=true)
