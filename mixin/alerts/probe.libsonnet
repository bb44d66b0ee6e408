// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// The active probe between hosts: docs/PROBE.md.
local path = '{{ $labels.instance }} ({{ $labels.device }} port {{ $labels.port }})';

function(lib) lib.group('rdma-probe', [
  lib.alert(
    'RdmaProbeFailing',
    'rdma:probe_failures:ratio > %(threshold)s',
    'A host is not reachable by RDMA from another',
    |||
      {{ $value | humanizePercentage }} of the RDMA probes from %(path)s to {{ $labels.target }} fail
      (operation {{ $labels.op }}).
    ||| % { path: path },
  ),
  lib.alert(
    'RdmaProbeLoss',
    'rdma:probe_failures:ratio > %(threshold)s',
    'Some RDMA probes to a host fail',
    |||
      {{ $value | humanizePercentage }} of the RDMA probes from %(path)s to {{ $labels.target }} fail
      (operation {{ $labels.op }}).
    ||| % { path: path },
  ),
  lib.alert(
    'RdmaProbeLatencyHigh',
    |||
      rdma:probe_rtt_seconds:p99 > %(factor)s * (rdma:probe_rtt_seconds:p50 offset %(baseline)s)
      and rdma:probe_rtt_seconds:p99 > %(floor)s
    |||,
    'RDMA latency is far above what it was',
    |||
      The 99th percentile of the RDMA round trip from %(path)s to
      {{ with $labels.target }}{{ . }}{{ else }}the targets{{ end }}{{ with $labels.target_group }} of {{ . }}{{ end }} is
      {{ $value | humanizeDuration }} (operation {{ $labels.op }}).
    ||| % { path: path },
  ),
])
