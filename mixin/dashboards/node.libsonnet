// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Node & port: one host in detail. Open this when an alert names a host.
function(config)
  local g = (import 'lib.libsonnet')(config);

  local portName = '{{instance}} {{device}}/{{port}}';
  local netdevName = '{{instance}} {{netdev}}';
  local rate(name, selector='%(port)s') = 'rate(%s{%s}[$__rate_interval])' % [name, selector];
  local netdevRate(name, more='') = g.netdev(rate(name, '%(host)s' + more));
  local increase(name) = 'increase(%s{%%(port)s}[$__rate_interval])' % name;

  local states = {
    '0': { text: 'no change', color: 'blue' },
    '1': { text: 'down', color: 'red' },
    '2': { text: 'init', color: 'orange' },
    '3': { text: 'armed', color: 'orange' },
    '4': { text: 'active', color: 'green' },
    '5': { text: 'active, deferred', color: 'orange' },
  };
  local stateSteps = { fieldConfig+: { defaults+: { thresholds: { mode: 'absolute', steps: [
    { color: 'red', value: null },
    { color: 'orange', value: 2 },
    { color: 'green', value: 4 },
  ] } } } };
  local onOff = { '0': { text: 'off', color: 'blue' }, '1': { text: 'on', color: 'green' } };

  local alive = g.row('Alive', [
    g.stat('State', 6) + g.unit('none') + g.named
    + g.text('Logical state of each port. Only "active" carries traffic.',
             'Down: cable, module, switch port. Init (InfiniBand): the subnet manager has not configured the port.')
    + g.instant('rdma_port_state{%(port)s}', portName) + g.mappings(states) + stateSteps + g.seeAlert('RdmaPortDown'),

    g.stat('Speed', 6) + g.unit('bps') + g.named
    + g.text('Rate of the port in use; absent while it is not active.',
             'Less than the card can do: cable or module of the wrong kind, a lane lost, or the setting of the switch port.')
    + g.instant('rdma_port_rate_bytes_per_second{%(port)s} * 8', portName) + g.seeAlert('RdmaPortSpeedDegraded'),

    g.stat('RDMA MTU', 6) + g.unit('bytes') + g.named
    + g.text('Path MTU of RDMA. 4096 needs an interface MTU of 4200 and more.',
             'Set the MTU of the interface, the same on all hosts and higher on the switches.')
    + g.instant('rdma_port_active_mtu_bytes{%(port)s}', portName) + g.seeAlert('RdmaMtuMismatch'),

    g.stat('Link lost, 24 h', 6) + g.unit('none') + g.named
    + g.text('Times that the interface lost its carrier in a day; counted by the kernel, so that no flap is missed.',
             'Clean or replace cable and module; look at the error rows below and at the other end.')
    + g.instant(g.netdev('increase(rdma_netdev_carrier_changes_total{%(host)s,to="down"}[1d])'), netdevName)
    + g.step(1, 'orange') + g.seeAlert('RdmaLinkFlapped') + g.seeAlert('RdmaLinkFlapping'),

    g.stateTimeline('Port state', 24, 6) + g.unit('none')
    + g.text('State of each port over time.', 'Compare the moment of a change with the panels below: errors before it, or nothing?')
    + g.query('rdma_port_state{%(port)s}', portName) + g.mappings(states) + stateSteps
    + g.seeAlert('RdmaPortDown') + g.seeAlert('RdmaLinkFlapping'),
  ]);

  local doing = g.row('Doing', [
    g.timeseries('Throughput') + g.unit('Bps')
    + g.text('RDMA bytes sent (above) and received (below).',
             'Less than the job needs: look whether the port is paused, loses packets, or its peer is slow.')
    + g.query(rate('rdma_port_data_bytes_total'), portName + ' {{direction}}') + g.receivedBelowZero,

    g.timeseries('Share of the line rate') + g.unit('percentunit') + g.range(0)
    + g.text('Throughput as a share of the rate of the port.',
             'Near 100 % for long the port itself is the limit: spread the traffic over more ports.')
    + g.query(rate('rdma_port_data_bytes_total') + ' / ignoring(direction) group_left () rdma_port_rate_bytes_per_second{%(port)s}',
              portName + ' {{direction}}')
    + g.utilization,

    g.timeseries('Packets') + g.unit('pps')
    + g.text('RDMA packets sent (above) and received (below).', 'Many packets with few bytes: small messages or a small MTU.')
    + g.query(rate('rdma_port_packets_total'), portName + ' {{direction}}') + g.receivedBelowZero,

    g.timeseries('Requests') + g.unit('reqps')
    + g.text('RDMA requests by operation, of peers (rx) and, where the driver counts them, of this host (tx).',
             'The mix should fit the application; atomics in great numbers are slow.')
    + g.query(rate('rdma_port_requests_total') + ' > 0', portName + ' {{operation}} {{direction}}'),

    g.timeseries('Traffic by priority', 24) + g.unit('Bps')
    + g.text('Bytes on the wire by 802.1p priority, RDMA and Ethernet together; sent above, received below.',
             |||
               RDMA has to be in the lossless priority. In another one it is not protected: check DSCP, trust and
               the APP table.
             |||)
    + g.query(netdevRate('rdma_priority_bytes_total') + ' > 0', netdevName + ' priority {{priority}} {{direction}}')
    + g.receivedBelowZero,
  ]);

  local pauseTime = 'rdma_pfc_pause_seconds_total';
  local wrong = g.row('Wrong: pause and congestion', [
    g.timeseries('Time paused, by priority', 24, 9) + g.unit('percentunit')
    + g.text(|||
               Share of time in which a priority stood still. Above zero (tx): this host keeps the other end
               paused, because it is slow itself. Below zero (rx): this host is told to stop, because the network
               or a receiver is slow.
             |||,
             |||
               Above: look at PCIe, receive buffers and the process on this host. Below: this host is the victim;
               look for the one that pauses.
             |||)
    + g.query(netdevRate(pauseTime, ',direction="tx"') + ' > 0', netdevName + ' priority {{priority}} tx')
    + g.query(netdevRate(pauseTime, ',direction="rx"') + ' > 0', netdevName + ' priority {{priority}} rx') + g.receivedBelowZero
    + g.alert('RdmaPfcStorm') + g.alert('RdmaPfcStormTransmitted') + g.alertBelowZero('RdmaPfcPausedHigh'),

    g.timeseries('PFC frames') + g.unit('pps')
    + g.text(|||
               Priority flow control frames sent (above) and received (below). The number of frames says little
               about time; on cards without pause time it is all there is.
             |||,
             'Frames in a priority that should not be lossless: a configuration that differs between host and switch.')
    + g.query(netdevRate('rdma_pfc_frames_total') + ' > 0', netdevName + ' priority {{priority}} {{direction}}')
    + g.receivedBelowZero + g.seeAlert('RdmaPfcPauseEstimateHigh') + g.seeAlert('RdmaPfcWithoutEcn'),

    g.timeseries('Global pause frames') + g.unit('pps')
    + g.text(|||
               Frames of 802.3x pause, which stop the whole link, sent (above) and received (below). There are to
               be none where PFC is on.
             |||,
             'Switch it off at both ends: ethtool -A INTERFACE rx off tx off, and the switch port.')
    + g.query(netdevRate('rdma_netdev_pause_frames_total'), netdevName + ' {{direction}}')
    + g.receivedBelowZero + g.seeAlert('RdmaGlobalPauseOnRocePort'),

    g.timeseries('Pause storms found by the card', 12) + g.unit('none') + g.bars
    + g.text(|||
               Events of the watchdog in the card. Warning: it has paused the link for long. Error: it stopped
               pausing, and packets are lost.
             |||,
             'Take the host out of service. It does not receive: look for a hung process, PCIe errors, firmware.')
    + g.query(g.netdev('increase(rdma_pause_storm_events_total{%(host)s}[$__rate_interval])'), netdevName + ' {{severity}}')
    + g.alert('RdmaNicFatal') + g.seeAlert('RdmaNicPauseWatchdogWarning'),

    g.timeseries('Congestion: from mark to reaction', 12) + g.unit('pps')
    + g.text(|||
               ECN in its order: packets marked by switches arrive here; this host notifies the senders (CNP sent);
               notifications arrive here, are handled, or ignored.
             |||,
             |||
               Marked but no CNP sent: the notification point is off. CNP ignored: the reaction is off for that
               priority. Pause without any marks: the switch marks too late.
             |||)
    + g.query(rate('rdma_port_ecn_marked_packets_total'), portName + ' 1 marked packets received')
    + g.query(rate('rdma_port_cnp_packets_total', '%(port)s,direction="tx"'), portName + ' 2 CNP sent')
    + g.query(rate('rdma_port_cnp_packets_total', '%(port)s,direction="rx"'), portName + ' 3 CNP received')
    + g.query(rate('rdma_port_cnp_ignored_total'), portName + ' 4 CNP ignored')
    + g.seeAlert('RdmaEcnMarkedHigh') + g.seeAlert('RdmaEcnWithoutCnp') + g.seeAlert('RdmaCnpIgnored'),
  ]);

  local loss = g.row('Wrong: loss and errors', [
    g.timeseries('Out of sequence and sequence NAKs') + g.unit('pps')
    + g.text(|||
               Out of sequence: packets came ahead of the expected number, lost or reordered on the way to this
               host. NAK: a peer says so of what this host sent.
             |||,
             'Both ends tell the direction. Adaptive routing reorders on purpose: then NAKs and timeouts stay at zero.')
    + g.query(rate('rdma_port_out_of_sequence_total'), portName + ' out of sequence')
    + g.query(rate('rdma_port_sequence_naks_total', '%(port)s,direction="rx"'), portName + ' NAKs received')
    + g.query(rate('rdma_port_implied_naks_total'), portName + ' implied NAKs')
    + g.alert('RdmaSequenceNaks') + g.seeAlert('RdmaOutOfSequence'),

    g.timeseries('Timeouts, retransmissions, slow restarts') + g.unit('ops')
    + g.text(|||
               What loss costs: waits until the acknowledgement timer ends, packets sent again, requests received
               twice, senders that start slowly again.
             |||,
             'Timeouts with NAKs: loss on the path. Timeouts alone: the peer is gone or hung.')
    + g.query(rate('rdma_port_ack_timeouts_total'), portName + ' ACK timeouts')
    + g.query(rate('rdma_port_retransmitted_packets_total'), portName + ' retransmitted ({{scope}})')
    + g.query(rate('rdma_port_duplicate_requests_total'), portName + ' duplicate requests')
    + g.query(rate('rdma_port_slow_restarts_total', '%(port)s,kind="restart"'), portName + ' slow restarts')
    + g.alert('RdmaAckTimeouts') + g.alert('RdmaSlowRestart') + g.seeAlert('RdmaRetransmissionsHigh'),

    g.timeseries('Connections lost') + g.unit('none') + g.bars
    + g.text('Requests given up after the last retry. Each one puts a queue pair into error and ends a connection.',
             'transport: no answer; peer, its port or the path is dead. rnr: the peer lives and posts no receive buffers.')
    + g.query(increase('rdma_port_retries_exceeded_total'), portName + ' {{kind}}') + g.alert('RdmaRetriesExceeded'),

    g.timeseries('Receiver not ready, no buffer') + g.unit('ops')
    + g.text(|||
               Not ready (rnr) NAKs, received from peers or sent to them, and packets dropped because no receive
               buffer was posted.
             |||,
             'The receiving application is too slow or posts too few buffers: look at its receive queue.')
    + g.query(rate('rdma_port_rnr_naks_total'), portName + ' RNR NAKs {{direction}}')
    + g.query(rate('rdma_port_receive_buffer_missing_total'), portName + ' no buffer')
    + g.alert('RdmaReceiverNotReady') + g.alert('RdmaReceiveBufferMissing'),

    g.timeseries('Access errors') + g.unit('none') + g.bars
    + g.text(|||
               Requests refused: bad key, no permission, wrong length, invalid. Mostly a bug of an application; a
               series of them may be an attack.
             |||,
             'Look at the log of the application on the side that the legend names, and at its peer.')
    + g.query(increase('rdma_port_access_errors_total') + ' > 0', portName + ' {{side}} {{kind}}') + g.alert('RdmaAccessErrors')
    + g.noValue('none'),

    g.timeseries('Completions in error') + g.unit('ops')
    + g.text('Completions with an error, without those that were only flushed when a queue pair was closed.',
             'The status in the log of the application says what it is; 12 is a peer that did not answer.')
    + g.query('(%s) - (%s)' % [rate('rdma_port_cqe_errors_total'), rate('rdma_port_cqe_flush_errors_total')], portName + ' {{side}}')
    + g.seeAlert('RdmaCqeErrors'),
  ]);

  local host = g.row('Why: the host', [
    g.timeseries('PCIe stalled') + g.unit('percentunit') + g.range(0)
    + g.text('Share of seconds in which the card had requests for the host and could not send them for more than 30 % of the second.',
             |||
               Reads: memory or IOMMU slow. Writes: the host does not take data fast enough. Check slot width,
               IOMMU, NUMA, power saving.
             |||)
    + g.query(netdevRate('rdma_pcie_stall_seconds_total'), netdevName + ' {{operation}}') + g.alert('RdmaPcieBackpressure'),

    g.timeseries('PCIe link') + g.unit('percentunit') + g.range(0, 1)
    + g.text('Lanes and speed of the PCIe link, as a share of what the card can do.',
             'Below 100 %: wrong slot, riser or a card that is not seated well.')
    + g.query('rdma_device_pcie_width_lanes{%(device)s} / rdma_device_pcie_max_width_lanes{%(device)s}', '{{instance}} {{device}} width')
    + g.query('rdma_device_pcie_speed_transfers_per_second{%(device)s} / rdma_device_pcie_max_speed_transfers_per_second{%(device)s}',
              '{{instance}} {{device}} speed')
    + g.seeAlert('RdmaPcieDegraded'),

    g.timeseries('Packets dropped by the card') + g.unit('pps')
    + g.text(|||
               Packets without an error that the card dropped, and why. pcie_buffer: PCIe too slow. port_buffer: no
               room. no_receive_buffer: the host gave none (Ethernet).
             |||,
             'Any drop in a lossless priority (next panel) breaks the promise of PFC.')
    + g.query(netdevRate('rdma_netdev_discards_total') + ' > 0', netdevName + ' {{direction}} {{reason}}')
    + g.alert('RdmaNicReceiveDiscards') + g.seeAlert('RdmaPcieBufferOverflow') + g.noValue('none'),

    g.timeseries('Drops in lossless priorities') + g.unit('pps')
    + g.text('Packets that the card dropped in a priority for which PFC is on. There must be none.',
             'Headroom too small for cable and MTU, or the switch does not obey: compare PFC on both ends.')
    + g.query('(%s) and on (job, instance, netdev, priority) (rdma_dcb_pfc_enabled{%%(host)s} == 1)'
              % netdevRate('rdma_priority_discards_total'), netdevName + ' priority {{priority}} {{reason}}')
    + g.alert('RdmaLosslessPriorityDrops'),
  ]);

  local link = g.row('Why: the link', [
    g.timeseries('Bit error rate before correction') + g.logarithmic
    + g.unit('sci', 2)
    + g.text(|||
               Bits that error correction repaired, as a share of the bits of the link. Never zero on fast links;
               its rise is the warning.
             |||,
             'Rising: plan to clean or replace cable and module before blocks become uncorrectable.')
    + g.query('(%s) / on (job, instance, netdev) group_left () (rdma_netdev_speed_bytes_per_second{%%(host)s} * 8)'
              % netdevRate('rdma_netdev_fec_corrected_bit_errors_total'), netdevName)
    + g.alert('RdmaPreFecBerHigh'),

    g.timeseries('Errors on the wire') + g.unit('ops')
    + g.text(|||
               Blocks that could not be corrected, symbol errors after correction, frames with a wrong checksum:
               data that was lost.
             |||,
             'Clean or replace cable and module. Errors on one lane only: a contact.')
    + g.query(netdevRate('rdma_netdev_fec_blocks_total', ',result="uncorrectable"'), netdevName + ' uncorrectable blocks')
    + g.query(netdevRate('rdma_netdev_symbol_errors_total'), netdevName + ' symbol errors')
    + g.query(netdevRate('rdma_netdev_mac_errors_total', ',error="fcs"'), netdevName + ' checksum')
    + g.query(rate('rdma_port_symbol_errors_total'), portName + ' symbol errors (port)')
    + g.alert('RdmaSymbolErrors') + g.seeAlert('RdmaSymbolErrorsOutOfSpec') + g.seeAlert('RdmaFecUncorrectable'),

    g.timeseries('Errors of the RDMA port') + g.unit('pps')
    + g.text(|||
               Packets received with an error, and packets not sent because the port was down or congested, as the
               port itself counts them.
             |||,
             |||
               Received: cable, module, or a switch that forwards damaged packets. Not sent: congestion; look at
               the pause panels.
             |||)
    + g.query(rate('rdma_port_receive_errors_total'), portName + ' received with an error')
    + g.query(rate('rdma_port_transmit_discards_total'), portName + ' not sent')
    + g.alert('RdmaReceiveErrors') + g.alert('RdmaTransmitDiscards'),

    g.timeseries('Link down, recoveries, events') + g.unit('none') + g.bars
    + g.text('Times that the link was lost or trained again, and what the device reported by itself.',
             'DEVICE_FATAL: the driver resets the card; read the kernel log. GID_CHANGE: an address was added or removed.')
    + g.query(g.netdev('increase(rdma_netdev_carrier_changes_total{%(host)s,to="down"}[$__rate_interval])') + ' > 0', netdevName + ' carrier lost')
    + g.query(increase('rdma_port_link_recoveries_total') + ' > 0', portName + ' recoveries')
    + g.query(increase('rdma_async_events_total') + ' > 0', portName + ' {{event}}')
    + g.noValue('none')
    + g.seeAlert('RdmaLinkFlapped') + g.seeAlert('RdmaLinkErrorRecovery') + g.seeAlert('RdmaNicFatal'),

    g.timeseries('Temperature', 24, 7) + g.unit('celsius')
    + g.text('Chip of the card and, where the driver tells, its optical modules.',
             'Near the critical value the card slows down or turns itself off: air flow, fans, neighbours in the chassis.')
    + g.query(g.netdev('rdma_netdev_temperature_celsius{%(host)s}'), netdevName + ' {{sensor}}')
    + g.noValue('The driver shows none'),
  ]);

  local configuration = g.row('Why: the configuration', [
    g.table('PFC by priority', 12, 7) + g.unit('none')
    + g.text('For which priorities flow control is on. RDMA over Ethernet mostly uses 3.',
             'It has to be the same on all hosts and on the switch ports.')
    + g.rows('label_join(%s, "interface", " ", "instance", "netdev")' % g.netdev('rdma_dcb_pfc_enabled{%(host)s}'))
    + g.matrix('interface', 'priority', 'Value') + g.mappings(onOff)
    + g.coloredNumbers() + g.override('byRegexp', '/interface/', { 'custom.width': 130 })
    + g.seeAlert('RdmaPfcConfigMismatch'),

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
    ]),
  ]);

  g.dashboard('rdma-node',
              'Node & port',
              'One host in detail: traffic, pause, congestion, loss, and the causes in host, link and configuration.',
              [alive, doing, wrong, loss, host, link, configuration])
