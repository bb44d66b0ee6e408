// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Pause: PFC, 802.3x, the adapter's watchdog, drops in lossless priorities.
function(lib) lib.group('rdma-pause', [
  // The root of a storm pauses others and is not paused itself; a port that does both may only pass the pause on.
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
    'A host pauses the fabric and stalls other hosts',
    |||
      {{ $labels.instance }} ({{ $labels.device }} port {{ $labels.port }}, {{ $labels.netdev }}) told its switch port to stop sending on priority {{ $labels.priority }}
      for {{ $value | humanizePercentage }} of the time and is not paused itself: it is the root of a storm that pauses
      other hosts of job {{ $labels.job }}. Isolate it.
    |||,
  ),
  lib.alert(
    'RdmaPfcStormTransmitted',
    'netdev_priority:rdma_pfc_pause_seconds:rate{direction="tx"} > %(threshold)s',
    'A host pauses the fabric',
    |||
      {{ $labels.instance }} told the other end of {{ $labels.netdev }} ({{ $labels.device }} port {{ $labels.port }}) to stop sending on priority
      {{ $labels.priority }} for {{ $value | humanizePercentage }} of the time. The host cannot drain what it
      receives; the pause spreads to other hosts.
    |||,
  ),
  lib.alert(
    'RdmaPfcPausedHigh',
    'netdev_priority:rdma_pfc_pause_seconds:rate{direction="rx"} > %(threshold)s',
    'The fabric pauses a host',
    |||
      {{ $labels.instance }} had to stop sending on priority {{ $labels.priority }} of {{ $labels.netdev }} ({{ $labels.device }} port {{ $labels.port }}) for
      {{ $value | humanizePercentage }} of the time. This host is a victim: the cause lies beyond its switch
      port.
    |||,
  ),
  lib.alert(
    'RdmaPfcPauseEstimateHigh',
    'netdev_priority:rdma_pfc_frames:pause_ratio > %(threshold)s',
    'Many PFC frames on an adapter that does not count pause time',
    |||
      {{ $labels.netdev }} ({{ $labels.device }} port {{ $labels.port }}) of {{ $labels.instance }} may have been paused on priority {{ $labels.priority }} for up to
      {{ $value | humanizePercentage }} of the time (direction {{ $labels.direction }}; rx: this host was paused, tx: it
      paused others). This is an upper bound, estimated from the number of frames.
    |||,
  ),
  lib.alert(
    'RdmaNicPauseWatchdogWarning',
    'increase(rdma_netdev_pause_storm_events_total{level="warning"}[%(window)s]) > %(threshold)s',
    'An adapter has been sending pause for too long',
    |||
      The watchdog of {{ $labels.netdev }} ({{ $labels.device }} port {{ $labels.port }}) on {{ $labels.instance }} warned {{ $value | printf "%.0f" }} times
      about continuous pause. If this continues, the adapter stops pausing and drops packets.
    |||,
  ),
  // A requested reset shows as a fatal event, too, and removes the device; after one that the firmware needs, the device
  // comes back. Virtual functions come and go with their users.
  lib.alert(
    'RdmaNicFatal',
    |||
      increase(rdma_netdev_pause_storm_events_total{level="error"}[%(window)s]) > %(threshold)s
      or (
        increase(rdma_device_async_events_total{event="DEVICE_FATAL"}[%(window)s]) > %(threshold)s
        and on (%(target)s, device) rdma_device_info{is_vf!="1"}
      )
    |||,
    'The watchdog of an adapter fired, or its firmware failed',
    |||
      {{ with $labels.event }}{{ $labels.device }} of {{ $labels.instance }} reported {{ . }}: the device was reset and lost all its connections.
      {{- else }}The watchdog of {{ $labels.netdev }} ({{ $labels.device }} port {{ $labels.port }}) on {{ $labels.instance }} stopped flow control: the adapter drops what
      it cannot accept. The host is stuck.{{ end }}
    |||,
  ),
  lib.alert(
    'RdmaGlobalPauseOnRocePort',
    |||
      increase(rdma_netdev_pause_frames_total[%(window)s]) > %(threshold)s
      and on (%(target)s, device, port, netdev) rdma_dcb_pfc_enabled == 1
    |||,
    'Global pause on a port with PFC',
    |||
      {{ $value | humanize }} frames of 802.3x pause (direction {{ $labels.direction }}) on {{ $labels.netdev }} ({{ $labels.device }} port {{ $labels.port }}) of
      {{ $labels.instance }}, which has PFC enabled. They stop all priorities; one end of the link is
      misconfigured.
    |||,
  ),
  lib.alert(
    'RdmaLosslessPriorityDrops',
    |||
      sum without (reason) (increase(rdma_priority_discards_total{direction="rx"}[%(window)s])) > %(threshold)s
      and ignoring (direction) rdma_dcb_pfc_enabled == 1
    |||,
    'Packets dropped in a lossless priority',
    |||
      {{ $labels.netdev }} ({{ $labels.device }} port {{ $labels.port }}) of {{ $labels.instance }} dropped {{ $value | humanize }} packets of priority
      {{ $labels.priority }} although PFC is enabled for it. RoCE recovers poorly from loss.
    |||,
  ),
])
