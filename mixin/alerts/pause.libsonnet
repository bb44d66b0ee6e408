// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Pause: PFC, 802.3x, the adapter's watchdog, drops where there must be none.
function(lib) lib.group('rdma-pause', [
  lib.alert(
    'RdmaPfcStormTransmitted',
    'rdma:pfc_pause:ratio{direction="tx"} > %(threshold)s',
    'A host pauses the fabric',
    |||
      {{ $labels.instance }} told the other end of {{ $labels.netdev }} to stop sending on priority
      {{ $labels.priority }} for {{ $value | humanizePercentage }} of the time. The host does not take
      what it
      receives; the pause spreads to other hosts.
    |||,
  ),
  lib.alert(
    'RdmaPfcPausedHigh',
    'rdma:pfc_pause:ratio{direction="rx"} > %(threshold)s',
    'A host is paused by the fabric',
    |||
      {{ $labels.instance }} had to stop sending on priority {{ $labels.priority }} of {{ $labels.netdev }} for
      {{ $value | humanizePercentage }} of the time. This host is a victim: the cause is beyond its switch
      port.
    |||,
  ),
  lib.alert(
    'RdmaPfcPausedSevere',
    'rdma:pfc_pause:ratio{direction="rx"} > %(threshold)s',
    'A host can hardly send, it is paused by the fabric',
    |||
      {{ $labels.instance }} had to stop sending on priority {{ $labels.priority }} of {{ $labels.netdev }} for
      {{ $value | humanizePercentage }} of the time. Look for the host that sends pause
      (RdmaPfcStormTransmitted).
    |||,
  ),
  lib.alert(
    'RdmaPfcPauseEstimateHigh',
    'rdma:pfc_pause_estimate:ratio > %(threshold)s',
    'Many PFC frames on an adapter that does not count pause time',
    |||
      {{ $labels.netdev }} of {{ $labels.instance }} may have stood still on priority {{ $labels.priority }} for up to
      {{ $value | humanizePercentage }} of the time (direction {{ $labels.direction }}; rx: this host was paused, tx: it
      paused others). An upper bound from the number of frames.
    |||,
  ),
  lib.alert(
    'RdmaNicPauseWatchdogWarning',
    'increase(rdma_pause_storm_events_total{severity="warning"}[%(window)s]) > %(threshold)s',
    'An adapter has sent pause for very long',
    |||
      The watchdog of {{ $labels.netdev }} on {{ $labels.instance }} warned {{ $value | printf "%.0f" }} times
      that it keeps sending pause. Next it stops, and drops packets.
    |||,
  ),
  lib.alert(
    'RdmaNicPauseWatchdogFired',
    'increase(rdma_pause_storm_events_total{severity="error"}[%(window)s]) > %(threshold)s',
    'An adapter has stopped flow control to protect the fabric',
    |||
      The watchdog of {{ $labels.netdev }} on {{ $labels.instance }} fired {{ $value | printf "%.0f" }} times: the adapter
      no longer sends pause and drops what it cannot take. The host is stuck.
    |||,
  ),
  lib.alert(
    'RdmaGlobalPauseOnRocePort',
    |||
      (
        increase(rdma_netdev_pause_frames_total[%(window)s]) > %(threshold)s
        or increase(rdma_pause_frames_total[%(window)s]) > %(threshold)s
      )
      and on (%(target)s, netdev) rdma_dcb_pfc_enabled == 1
    |||,
    'Global pause on a port that has PFC',
    |||
      {{ $value | humanize }} frames of 802.3x pause (direction {{ $labels.direction }}) on {{ $labels.netdev }} of
      {{ $labels.instance }}, which has PFC switched on. They stop all priorities; one end of the link is
      configured wrongly.
    |||,
  ),
  lib.alert(
    'RdmaLosslessPriorityDrops',
    |||
      sum without (reason) (increase(rdma_priority_discards_total{direction="rx"}[%(window)s])) > %(threshold)s
      and on (%(target)s, netdev, priority) rdma_dcb_pfc_enabled == 1
    |||,
    'Packets dropped in a lossless priority',
    |||
      {{ $labels.netdev }} of {{ $labels.instance }} dropped {{ $value | humanize }} packets of priority
      {{ $labels.priority }} although PFC is on for it. RoCE recovers badly from loss.
    |||,
  ),
])
