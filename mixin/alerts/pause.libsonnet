// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Pause: PFC, 802.3x, the adapter's watchdog, drops where there must be none.
function(lib) lib.group('rdma-pause', [
  // The root of a storm keeps others from sending and is not kept itself; one that is both may only pass it on.
  lib.alert(
    'RdmaPfcStorm',
    |||
      (
        netdev_priority:rdma_pfc_pause_seconds:rate{direction="tx"} > %(threshold)s
        unless ignoring (direction) netdev_priority:rdma_pfc_pause_seconds:rate{direction="rx"} > %(paused)s
      )
      and on (%(scope)s, priority)
      count by (%(scope)s, priority) (
        max by (%(target)s, priority) (netdev_priority:rdma_pfc_pause_seconds:rate{direction="rx"}) > %(paused)s
      ) >= %(victims)s
    |||,
    'A host pauses the fabric, and others stand still',
    |||
      {{ $labels.instance }} ({{ $labels.netdev }}) told its switch port to stop sending on priority {{ $labels.priority }}
      for {{ $value | humanizePercentage }} of the time and is not paused itself: it is the root of a storm that pauses
      other hosts of job {{ $labels.job }}. Take it out.
    |||,
  ),
  lib.alert(
    'RdmaPfcStormTransmitted',
    'netdev_priority:rdma_pfc_pause_seconds:rate{direction="tx"} > %(threshold)s',
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
    'netdev_priority:rdma_pfc_pause_seconds:rate{direction="rx"} > %(threshold)s',
    'A host is paused by the fabric',
    |||
      {{ $labels.instance }} had to stop sending on priority {{ $labels.priority }} of {{ $labels.netdev }} for
      {{ $value | humanizePercentage }} of the time. This host is a victim: the cause is beyond its switch
      port.
    |||,
  ),
  lib.alert(
    'RdmaPfcPauseEstimateHigh',
    'netdev_priority:rdma_pfc_frames:pause_ratio > %(threshold)s',
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
  // With the interface, so that it inhibits what that loses meanwhile. A reset that somebody orders shows as a fatal event, too, and takes the device away; after one that the firmware needs,
  // the device is there again. Virtual functions come and go with their users.
  lib.alert(
    'RdmaNicFatal',
    |||
      increase(rdma_pause_storm_events_total{severity="error"}[%(window)s]) > %(threshold)s
      or (
        increase(rdma_async_events_total{event="DEVICE_FATAL"}[%(window)s])
          * on (%(target)s, device) group_right (event) max by (%(target)s, device, netdev) (rdma_port_info) > %(threshold)s
        and on (%(target)s, device) rdma_device_info{is_vf!="1"}
      )
    |||,
    'The watchdog of an adapter fired, or its firmware failed',
    |||
      {{ with $labels.event }}{{ $labels.device }}{{ with $labels.netdev }} ({{ . }}){{ end }} of {{ $labels.instance }} reported
      {{ . }}: it was reset, and all its connections are lost.
      {{- else }}The watchdog of {{ $labels.netdev }} on {{ $labels.instance }} stopped flow control: the adapter drops what
      it cannot take. The host is stuck.{{ end }}
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
