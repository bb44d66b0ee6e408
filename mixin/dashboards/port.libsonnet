// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Port: one device or port in detail. Open this when an alert names a device or an interface.
function(config)
  local g = (import 'lib.libsonnet')(config);
  local parts = (import 'parts.libsonnet')(config);
  local expressions = import '../expressions.libsonnet';

  local portName = parts.portName;
  local netdevName = parts.netdevName;
  local rate = parts.rate;
  local increase = parts.increase;

  local alive = g.row('Alive', [parts.state, parts.speed, parts.linkLost { width: 12 }, parts.timeline]);

  local doing = g.row('Doing', [parts.throughput, parts.utilization]);

  local doingWhat = g.folded('Doing: packets and priorities', [
    g.timeseries('Packets') + g.unit('pps')
    + g.text('RDMA packets sent (above) and received (below).', 'Many packets with few bytes mean small messages or a small MTU.')
    + g.query(rate('rdma_port_packets_total'), portName + ' {{direction}}') + g.receivedBelowZero
    + g.notCounted('packet counters'),

    g.timeseries('Requests') + g.unit('reqps')
    + g.text('RDMA requests by operation, from peers (rx) and, where the driver counts them, from this host (tx).',
             'Check that the mix fits the application; large numbers of atomics are slow.')
    + g.query(rate('rdma_port_requests_total') + ' > 0', portName + ' {{operation}} {{direction}}')
    + g.notCounted('request counters'),

    g.timeseries('Traffic by priority', 24) + g.unit('Bps')
    + g.text('Bytes on the wire by 802.1p priority, RDMA and Ethernet together, sent (above) and received (below).',
             |||
               RDMA traffic must use the lossless priority; in another one it is not protected.
               Check DSCP, trust and the APP table.
             |||)
    + g.query(rate('rdma_priority_bytes_total') + ' > 0', netdevName + ' priority {{priority}} {{direction}}')
    + g.receivedBelowZero
    + g.empty('No selected port has traffic in a priority and a driver that counts it'),
  ]);

  local bursts = g.folded('Doing: between two scrapes', [
    g.timeseries('Busiest window of the last minute') + g.unit('percentunit') + g.range(0)
    + g.text('Utilization in the fullest of the short windows that the collector `burst` samples, by direction.',
             |||
               Far above the average share of the line rate: traffic comes in bursts, and queues
               form although the average is low. Near it: the flow is even.
             |||)
    + g.query('rdma_burst_max_utilization_ratio{%(port)s}', portName + ' {{direction}}')
    + g.empty('The collector `burst` is off, or no selected port is active'),

    g.timeseries('Time above nine tenths of the rate') + g.unit('percentunit') + g.range(0)
    + g.text('Share of the short windows in which the port was more than 90 % full.',
             'If it is high while the average is low, spread the flows over more ports, or over time.')
    + g.query(|||
      1 - rate(rdma_burst_utilization_ratio_bucket{%(port)s,le="0.9"}[$__rate_interval])
          / ignoring (le) rate(rdma_burst_utilization_ratio_count{%(port)s}[$__rate_interval])
    |||, portName + ' {{direction}}')
    + g.empty('The collector `burst` is off, or Prometheus keeps only its native histograms'),

    g.timeseries('Longest pause of a window') + g.unit('percentunit') + g.range(0)
    + g.text(|||
               Share of the worst window of the last minute for which a priority was paused: shows
               storms that averages hide.
             |||,
             'tx near 100 %: this host stopped the network for a whole window; check its PCIe, buffers and processes.')
    + g.query('rdma_burst_max_pfc_paused_ratio{%(port)s}', netdevName + ' priority {{priority}} {{direction}}')
    + g.empty('The collector `burst` is off, or the driver does not count pause time'),

    g.timeseries('Windows with notifications of congestion') + g.unit('percentunit') + g.range(0)
    + g.text('Share of the short windows in which a congestion notification was sent or received.',
             'If few windows contain all notifications, bursts collide: find out which ports send at the same time.')
    + g.query(|||
      1 - rate(rdma_burst_cnp_packets_bucket{%(port)s,le="0.0"}[$__rate_interval])
          / ignoring (le) rate(rdma_burst_cnp_packets_count{%(port)s}[$__rate_interval])
    |||, portName + ' {{direction}}')
    + g.empty('The collector `burst` is off, or the driver does not count notifications'),
  ]);

  local pauseTime = 'rdma_pfc_pause_seconds_total';
  local pause = g.row('Wrong: pause and congestion', [
    g.timeseries('Time paused, by priority', 24, 9) + g.unit('percentunit')
    + g.text(|||
               Share of the time for which a priority was paused. Above zero (tx): this host pauses
               the other end, because it is too slow itself. Below zero (rx): this host is paused,
               because the network or a receiver is too slow.
             |||,
             |||
               Above: check PCIe, receive buffers and processes of this host. Below: this host is a
               victim; find the host that pauses the fabric.
             |||)
    + g.query(rate(pauseTime, '%(port)s,direction="tx"') + ' > 0', netdevName + ' priority {{priority}} tx')
    + g.query(rate(pauseTime, '%(port)s,direction="rx"') + ' > 0', netdevName + ' priority {{priority}} rx') + g.receivedBelowZero
    + g.alert('RdmaPfcStorm') + g.alert('RdmaPfcStormTransmitted') + g.alertBelowZero('RdmaPfcPausedHigh')
    + g.empty('None: no pause, or the driver does not count pause time'),

    g.timeseries('PFC frames') + g.unit('pps')
    + g.text(|||
               Priority flow control frames sent (above) and received (below). The number of frames
               reveals little about the time; some cards report nothing else.
             |||,
             'Frames in a priority that should not be lossless: host and switch are configured differently.')
    + g.query(rate('rdma_pfc_frames_total') + ' > 0', netdevName + ' priority {{priority}} {{direction}}')
    + g.receivedBelowZero + g.seeAlert('RdmaPfcPauseEstimateHigh')
    + g.empty('None: no frames, or the driver does not count them'),

    g.timeseries('Congestion: from mark to reaction', 12) + g.unit('pps')
    + g.text(|||
               The steps of ECN: marked packets arrive, this host notifies the senders (CNP sent);
               notifications arrive and are handled or ignored.
             |||,
             |||
               Marks but no CNP sent: the notification point is off. CNP ignored: the reaction point
               is off for that priority. Pause without marks: the switch marks too late.
             |||)
    + g.query(rate('rdma_port_ecn_marked_packets_total'), portName + ' 1 marked packets received')
    + g.query(rate('rdma_port_cnp_packets_total', '%(port)s,direction="tx"'), portName + ' 2 CNP sent')
    + g.query(rate('rdma_port_cnp_packets_total', '%(port)s,direction="rx"'), portName + ' 3 CNP received')
    + g.query(rate('rdma_port_cnp_ignored_total'), portName + ' 4 CNP ignored')
    + g.seeAlert('RdmaEcnMarkedHigh') + g.seeAlert('RdmaCnpIgnored')
    + g.notCounted('ECN and CNP counters'),

    g.timeseries('Global pause frames') + g.unit('pps')
    + g.text(|||
               802.3x pause frames, which stop the whole link, sent (above) and received (below).
               There should be none where PFC is on.
             |||,
             'Disable it at both ends: ethtool -A INTERFACE rx off tx off, and on the switch port.')
    + g.query(rate('rdma_netdev_pause_frames_total'), netdevName + ' {{direction}}')
    + g.receivedBelowZero + g.seeAlert('RdmaGlobalPauseOnRocePort')
    + g.notCounted('an interface that counts 802.3x pause'),

    g.timeseries('Drops in lossless priorities') + g.unit('pps')
    + g.text('Packets that the card dropped in a priority for which PFC is on. There should be none.',
             'The headroom is too small for cable and MTU, or the switch ignores pause: compare PFC at both ends.')
    + g.query(rate('rdma_priority_discards_total') + ' and ignoring (direction, reason) rdma_dcb_pfc_enabled{%(port)s} == 1',
              netdevName + ' priority {{priority}} {{reason}}')
    + g.alert('RdmaLosslessPriorityDrops')
    + g.empty('No selected port has a priority with PFC and counts its drops'),

    g.timeseries('Waiting for credits') + g.unit('short')
    + g.text(|||
               Ticks per second for which a port had data but could not send it (InfiniBand: no
               credits). The length of a tick depends on the adapter.
             |||,
             |||
               Compare a port with itself, or with ports of the same model. Many are high: suspect
               incast, or a slow receiver behind one switch. One is high: suspect its cable or
               switch port.
             |||)
    + g.query(rate('rdma_port_transmit_wait_ticks_total'), portName) + g.seeAlert('RdmaTransmitWaitHigh')
    + g.notCounted('the counter port_xmit_wait (InfiniBand and mlx have it)'),

    g.timeseries('Pause storms found by the card') + g.unit('none') + g.bars
    + g.text(|||
               Events of the card's pause watchdog. Warning: the card has paused the link for a long
               time. Error: it stopped pausing, and packets are lost.
             |||,
             |||
               Take the host out of service: it does not drain what it receives. Check for hung
               processes, PCIe errors and firmware faults.
             |||)
    + g.query('increase(rdma_netdev_pause_storm_events_total{%(port)s}[$__rate_interval])', netdevName + ' {{level}}')
    + g.alert('RdmaNicFatal') + g.seeAlert('RdmaNicPauseWatchdogWarning')
    + g.notCounted('a driver that reports watchdog events (mlx5 and bnxt_en do)'),
  ]);

  local loss = g.folded('Wrong: loss and errors', [
    g.timeseries('Out of sequence and sequence NAKs') + g.unit('pps')
    + g.text(|||
               Out of sequence: packets were lost or reordered on the path to this host. NAK: a peer
               reports the same for packets from this host.
             |||,
             |||
               Check both ends to find the direction. Adaptive routing reorders on purpose: then
               NAKs and timeouts stay at zero.
             |||)
    + g.query(rate('rdma_port_out_of_sequence_total'), portName + ' out of sequence')
    + g.query(rate('rdma_port_sequence_naks_total', '%(port)s,direction="rx"'), portName + ' NAKs received')
    + g.query(rate('rdma_port_implied_naks_total'), portName + ' implied NAKs')
    + g.alert('RdmaSequenceNaks') + g.seeAlert('RdmaOutOfSequence')
    + g.notCounted('these counters'),

    g.timeseries('Timeouts, retransmissions, slow restarts') + g.unit('ops')
    + g.text(|||
               The cost of loss: acknowledgement timeouts, retransmitted packets, duplicate
               requests, slow restarts of senders.
             |||,
             'Timeouts with NAKs: loss on the path. Timeouts alone: the peer is gone or hangs.')
    + g.query(rate('rdma_port_ack_timeouts_total'), portName + ' ACK timeouts')
    + g.query(rate('rdma_port_retransmitted_packets_total'), portName + ' retransmitted ({{scope}})')
    + g.query(rate('rdma_port_duplicate_requests_total'), portName + ' duplicate requests')
    + g.query(rate('rdma_port_slow_restarts_total', '%(port)s,kind="restart"'), portName + ' slow restarts')
    + g.alert('RdmaAckTimeouts')
    + g.notCounted('these counters'),

    g.timeseries('Connections lost') + g.unit('none') + g.bars
    + g.text(|||
               Requests given up after the last retry. Each one puts a queue pair into the error
               state and ends a connection.
             |||,
             |||
               transport: no answer; the peer, its port or the path is dead. rnr: the peer runs but
               posts no receive buffers.
             |||)
    + g.query(increase('rdma_port_retries_exceeded_total'), portName + ' {{kind}}') + g.alert('RdmaRetriesExceeded')
    + g.notCounted('this counter: mlx5 has it since Linux 6.12, irdma does not'),

    g.timeseries('Receiver not ready, no buffer') + g.unit('ops')
    + g.text(|||
               Receiver-not-ready (RNR) NAKs received from peers or sent to them, and packets
               dropped because no receive buffer was posted.
             |||,
             'The receiving application is too slow or posts too few buffers: check its receive queue.')
    + g.query(rate('rdma_port_rnr_naks_total'), portName + ' RNR NAKs {{direction}}')
    + g.query(rate('rdma_port_receive_buffer_missing_total'), portName + ' no buffer')
    + g.alert('RdmaReceiverNotReady')
    + g.notCounted('these counters'),

    g.timeseries('Access errors') + g.unit('none') + g.bars
    + g.text(|||
               Refused requests: bad key, no permission, wrong length, or invalid. Usually a bug in
               an application; a series of them may be an attack.
             |||,
             "Check the application's log on the side that the legend names, and on its peer.")
    + g.query(increase('rdma_port_access_errors_total') + ' > 0', portName + ' {{side}} {{kind}}') + g.alert('RdmaAccessErrors')
    + g.empty('None, or the driver does not count them'),

    g.timeseries('Completions in error') + g.unit('ops')
    + g.text('Completions with an error, excluding those flushed when a queue pair was closed.',
             "The status in the application's log identifies the error; 12 means that the peer did not answer.")
    + g.query('(%s) - (%s)' % [rate('rdma_port_cqe_errors_total'), rate('rdma_port_cqe_flush_errors_total')], portName + ' {{side}}')
    + g.seeAlert('RdmaCqeErrors')
    + g.notCounted('these counters (mlx5 has them)'),
  ]);

  local link = g.folded('Why: the link', [
    g.timeseries('Bit error rate before correction') + g.logarithmic
    + g.unit('sci', 2)
    + g.text(|||
               Bits that error correction repaired, as a share of all bits on the link. Never zero
               on fast links; a rise is the warning.
             |||,
             'If it rises, plan to clean or replace the cable and the module before blocks become uncorrectable.')
    + g.query(expressions.bitErrorRatio('$__rate_interval', '%(port)s'), netdevName)
    + g.alert('RdmaPreFecBerHigh')
    + g.notCounted('error correction counters'),

    g.timeseries('Errors on the wire') + g.unit('ops')
    + g.text('Uncorrectable blocks, symbol errors after correction, frames with a wrong checksum: lost data.',
             'Clean or replace the cable and the module. Errors on one lane only point to a bad contact.')
    + g.query(rate('rdma_netdev_fec_blocks_total', '%(port)s,result="uncorrectable"'), netdevName + ' uncorrectable blocks')
    + g.query(rate('rdma_netdev_symbol_errors_total'), netdevName + ' symbol errors')
    + g.query(rate('rdma_netdev_mac_errors_total', '%(port)s,error="fcs"'), netdevName + ' checksum')
    + g.query(rate('rdma_port_symbol_errors_total'), portName + ' symbol errors (port)')
    + g.alert('RdmaSymbolErrors') + g.seeAlert('RdmaFecUncorrectable')
    + g.notCounted('an interface that counts these errors'),

    g.timeseries('Errors of the RDMA port') + g.unit('pps')
    + g.text(|||
               Packets received with an error, and packets not sent because the port was down or
               congested, as counted by the port.
             |||,
             |||
               Received: suspect the cable, the module, or a switch that forwards damaged packets.
               Not sent: congestion; check the pause panels.
             |||)
    + g.query(rate('rdma_port_receive_errors_total'), portName + ' received with an error')
    + g.query(rate('rdma_port_transmit_discards_total'), portName + ' not sent')
    + g.alert('RdmaReceiveErrors') + g.alert('RdmaTransmitDiscards')
    + g.notCounted('port counters (InfiniBand and mlx have them)'),

    g.timeseries('Link down, recoveries, events') + g.unit('none') + g.bars
    + g.text('How often the link was lost or retrained, and the events that the device reported.',
             |||
               DEVICE_FATAL: the driver resets the card; check the kernel log. GID_CHANGE: an
               address was added or removed.
             |||)
    + g.query('increase(rdma_netdev_carrier_changes_total{%(port)s,to="down"}[$__rate_interval])' + ' > 0', netdevName + ' carrier lost')
    + g.query(increase('rdma_port_link_recoveries_total') + ' > 0', portName + ' recoveries')
    + g.query(increase('rdma_device_async_events_total') + ' > 0', portName + ' {{event}}')
    + g.seeAlert('RdmaLinkErrorRecovery') + g.seeAlert('RdmaNicFatal')
    + g.empty('None: no link was lost, and no event was reported'),
  ]);

  g.dashboard('rdma-port',
              'Port',
              'One device or port in detail: traffic, pause, congestion, loss, link.',
              [alive, doing, doingWhat, bursts, pause, loss, link],
              one=true)
