// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Port: one device or port in detail. Open this when an alert names a device or an interface.
function(config)
  local g = (import 'lib.libsonnet')(config);
  local parts = (import 'parts.libsonnet')(config);

  local portName = parts.portName;
  local netdevName = parts.netdevName;
  local rate = parts.rate;
  local netdevRate = parts.netdevRate;
  local increase = parts.increase;

  local alive = g.row('Alive', [parts.state, parts.speed, parts.linkLost { width: 12 }, parts.timeline]);

  local doing = g.row('Doing', [parts.throughput, parts.utilization]);

  local doingWhat = g.folded('Doing: packets and priorities', [
    g.timeseries('Packets') + g.unit('pps')
    + g.text('RDMA packets sent (above) and received (below).', 'Many packets with few bytes: small messages or a small MTU.')
    + g.query(rate('rdma_port_packets_total'), portName + ' {{direction}}') + g.receivedBelowZero
    + g.notCounted('counters of its packets'),

    g.timeseries('Requests') + g.unit('reqps')
    + g.text('RDMA requests by operation, of peers (rx) and, where the driver counts them, of this host (tx).',
             'The mix should fit the application; atomics in great numbers are slow.')
    + g.query(rate('rdma_port_requests_total') + ' > 0', portName + ' {{operation}} {{direction}}')
    + g.notCounted('counters of its requests'),

    g.timeseries('Traffic by priority', 24) + g.unit('Bps')
    + g.text('Bytes on the wire by 802.1p priority, RDMA and Ethernet together; sent above, received below.',
             |||
               RDMA has to be in the lossless priority. In another one it is not protected: check DSCP, trust and
               the APP table.
             |||)
    + g.query(netdevRate('rdma_priority_bytes_total') + ' > 0', netdevName + ' priority {{priority}} {{direction}}')
    + g.receivedBelowZero
    + g.empty('No chosen port has traffic in a priority, or a driver that counts it'),
  ]);

  local pauseTime = 'rdma_pfc_pause_seconds_total';
  local pause = g.row('Wrong: pause and congestion', [
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
    + g.alert('RdmaPfcStorm') + g.alert('RdmaPfcStormTransmitted') + g.alertBelowZero('RdmaPfcPausedHigh')
    + g.empty('None: no pause, or a driver that does not count its time'),

    g.timeseries('PFC frames') + g.unit('pps')
    + g.text(|||
               Priority flow control frames sent (above) and received (below). The number of frames says little
               about time; on cards without pause time it is all there is.
             |||,
             'Frames in a priority that should not be lossless: a configuration that differs between host and switch.')
    + g.query(netdevRate('rdma_pfc_frames_total') + ' > 0', netdevName + ' priority {{priority}} {{direction}}')
    + g.receivedBelowZero + g.seeAlert('RdmaPfcPauseEstimateHigh')
    + g.empty('None: no frames, or a driver that does not count them'),

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
    + g.seeAlert('RdmaEcnMarkedHigh') + g.seeAlert('RdmaCnpIgnored')
    + g.notCounted('counters of ECN and CNP'),

    g.timeseries('Global pause frames') + g.unit('pps')
    + g.text(|||
               Frames of 802.3x pause, which stop the whole link, sent (above) and received (below). There are to
               be none where PFC is on.
             |||,
             'Switch it off at both ends: ethtool -A INTERFACE rx off tx off, and the switch port.')
    + g.query(netdevRate('rdma_netdev_pause_frames_total'), netdevName + ' {{direction}}')
    + g.receivedBelowZero + g.seeAlert('RdmaGlobalPauseOnRocePort')
    + g.notCounted('an interface that counts 802.3x pause'),

    g.timeseries('Drops in lossless priorities') + g.unit('pps')
    + g.text('Packets that the card dropped in a priority for which PFC is on. There must be none.',
             'Headroom too small for cable and MTU, or the switch does not obey: compare PFC on both ends.')
    + g.query('(%s) and on (job, instance, netdev, priority) (rdma_dcb_pfc_enabled{%%(host)s} == 1)'
              % netdevRate('rdma_priority_discards_total'), netdevName + ' priority {{priority}} {{reason}}')
    + g.alert('RdmaLosslessPriorityDrops')
    + g.empty('No chosen port has a priority with PFC and counts its drops'),

    g.timeseries('Pause storms found by the card', 24, 6) + g.unit('none') + g.bars
    + g.text(|||
               Events of the watchdog in the card. Warning: it has paused the link for long. Error: it stopped
               pausing, and packets are lost.
             |||,
             'Take the host out of service. It does not receive: look for a hung process, PCIe errors, firmware.')
    + g.query(g.netdev('increase(rdma_pause_storm_events_total{%(host)s}[$__rate_interval])'), netdevName + ' {{severity}}')
    + g.alert('RdmaNicFatal') + g.seeAlert('RdmaNicPauseWatchdogWarning')
    + g.notCounted('a watchdog that counts (mlx5 and bnxt_en have)'),
  ]);

  local loss = g.folded('Wrong: loss and errors', [
    g.timeseries('Out of sequence and sequence NAKs') + g.unit('pps')
    + g.text(|||
               Out of sequence: packets came ahead of the expected number, lost or reordered on the way to this
               host. NAK: a peer says so of what this host sent.
             |||,
             'Both ends tell the direction. Adaptive routing reorders on purpose: then NAKs and timeouts stay at zero.')
    + g.query(rate('rdma_port_out_of_sequence_total'), portName + ' out of sequence')
    + g.query(rate('rdma_port_sequence_naks_total', '%(port)s,direction="rx"'), portName + ' NAKs received')
    + g.query(rate('rdma_port_implied_naks_total'), portName + ' implied NAKs')
    + g.alert('RdmaSequenceNaks') + g.seeAlert('RdmaOutOfSequence')
    + g.notCounted('these counters'),

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
    + g.alert('RdmaAckTimeouts')
    + g.notCounted('these counters'),

    g.timeseries('Connections lost') + g.unit('none') + g.bars
    + g.text('Requests given up after the last retry. Each one puts a queue pair into error and ends a connection.',
             'transport: no answer; peer, its port or the path is dead. rnr: the peer lives and posts no receive buffers.')
    + g.query(increase('rdma_port_retries_exceeded_total'), portName + ' {{kind}}') + g.alert('RdmaRetriesExceeded')
    + g.notCounted('this counter: mlx5 has it since Linux 6.12, irdma never'),

    g.timeseries('Receiver not ready, no buffer') + g.unit('ops')
    + g.text(|||
               Not ready (rnr) NAKs, received from peers or sent to them, and packets dropped because no receive
               buffer was posted.
             |||,
             'The receiving application is too slow or posts too few buffers: look at its receive queue.')
    + g.query(rate('rdma_port_rnr_naks_total'), portName + ' RNR NAKs {{direction}}')
    + g.query(rate('rdma_port_receive_buffer_missing_total'), portName + ' no buffer')
    + g.alert('RdmaReceiverNotReady')
    + g.notCounted('these counters'),

    g.timeseries('Access errors') + g.unit('none') + g.bars
    + g.text(|||
               Requests refused: bad key, no permission, wrong length, invalid. Mostly a bug of an application; a
               series of them may be an attack.
             |||,
             'Look at the log of the application on the side that the legend names, and at its peer.')
    + g.query(increase('rdma_port_access_errors_total') + ' > 0', portName + ' {{side}} {{kind}}') + g.alert('RdmaAccessErrors')
    + g.empty('None refused, or the driver does not count them'),

    g.timeseries('Completions in error') + g.unit('ops')
    + g.text('Completions with an error, without those that were only flushed when a queue pair was closed.',
             'The status in the log of the application says what it is; 12 is a peer that did not answer.')
    + g.query('(%s) - (%s)' % [rate('rdma_port_cqe_errors_total'), rate('rdma_port_cqe_flush_errors_total')], portName + ' {{side}}')
    + g.seeAlert('RdmaCqeErrors')
    + g.notCounted('these counters (mlx5 has)'),
  ]);

  local link = g.folded('Why: the link', [
    g.timeseries('Bit error rate before correction') + g.logarithmic
    + g.unit('sci', 2)
    + g.text(|||
               Bits that error correction repaired, as a share of the bits of the link. Never zero on fast links;
               its rise is the warning.
             |||,
             'Rising: plan to clean or replace cable and module before blocks become uncorrectable.')
    + g.query('(%s) / on (job, instance, netdev) group_left () (rdma_netdev_speed_bytes_per_second{%%(host)s} * 8)'
              % netdevRate('rdma_netdev_fec_corrected_bit_errors_total'), netdevName)
    + g.alert('RdmaPreFecBerHigh')
    + g.notCounted('error correction that the driver counts'),

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
    + g.alert('RdmaSymbolErrors') + g.seeAlert('RdmaFecUncorrectable')
    + g.notCounted('an interface that counts these errors'),

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
    + g.alert('RdmaReceiveErrors') + g.alert('RdmaTransmitDiscards')
    + g.notCounted('port counters (InfiniBand and mlx have)'),

    g.timeseries('Link down, recoveries, events') + g.unit('none') + g.bars
    + g.text('Times that the link was lost or trained again, and what the device reported by itself.',
             'DEVICE_FATAL: the driver resets the card; read the kernel log. GID_CHANGE: an address was added or removed.')
    + g.query(g.netdev('increase(rdma_netdev_carrier_changes_total{%(host)s,to="down"}[$__rate_interval])') + ' > 0', netdevName + ' carrier lost')
    + g.query(increase('rdma_port_link_recoveries_total') + ' > 0', portName + ' recoveries')
    + g.query(increase('rdma_async_events_total') + ' > 0', portName + ' {{event}}')
    + g.seeAlert('RdmaLinkErrorRecovery') + g.seeAlert('RdmaNicFatal')
    + g.empty('None: no link was lost, nothing was reported'),
  ]);

  g.dashboard('rdma-port',
              'Port',
              'One device or port in detail: traffic, pause, congestion, loss, and the link.',
              [alive, doing, doingWhat, pause, loss, link],
              one=true)
