// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// The active probe between hosts: docs/PROBE.md.
local path = '{{ $labels.instance }} ({{ $labels.device }} port {{ $labels.port }})';

function(lib) lib.group('rdma-probe', [
  lib.alert(
    'RdmaProbeFailing',
    'target_op:rdma_probe_failures:ratio_rate > %(threshold)s',
    'A host is not reachable by RDMA',
    |||
      {{ $value | humanizePercentage }} of the RDMA probes to {{ $labels.target }} fail (operation {{ $labels.op }}), from all
      hosts of job {{ $labels.job }} together; the host and its ports are up.
    |||,
  ),
  lib.alert(
    'RdmaProbeLoss',
    'target_op:rdma_probe_failures:ratio_rate > %(threshold)s',
    'Some RDMA probes to a host fail',
    |||
      {{ $value | humanizePercentage }} of the RDMA probes to {{ $labels.target }} fail (operation {{ $labels.op }}), from all
      hosts of job {{ $labels.job }} together.
    |||,
  ),
  lib.alert(
    'RdmaProbeLatencyHigh',
    |||
      port_target_op:rdma_probe_rtt_seconds:p99_rate
        > on (%(scope)s, op) group_left () (%(factor)s * quantile by (%(scope)s, op) (0.5, port_target_op:rdma_probe_rtt_seconds:p50_rate))
      and port_target_op:rdma_probe_rtt_seconds:p99_rate > %(floor)s
    |||,
    'RDMA latency is far above that of the other paths',
    |||
      The 99th percentile of the RDMA round trip from %(path)s to
      {{ with $labels.target }}{{ . }}{{ else }}the targets{{ end }}{{ with $labels.target_group }} of {{ . }}{{ end }} is
      {{ $value | humanizeDuration }} (operation {{ $labels.op }}).
    ||| % { path: path },
  ),
])
