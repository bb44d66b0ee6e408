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
      {{ $value | humanizePercentage }} of the RDMA probes to {{ $labels.target }} fail (operation {{ $labels.op }}), counted over
      all hosts of job {{ $labels.job }}; the host and its ports are up.
    |||,
  ),
  lib.alert(
    'RdmaProbeLoss',
    'target_op:rdma_probe_failures:ratio_rate > %(threshold)s',
    'Some RDMA probes to a host fail',
    |||
      {{ $value | humanizePercentage }} of the RDMA probes to {{ $labels.target }} fail (operation {{ $labels.op }}), counted over
      all hosts of job {{ $labels.job }}.
    |||,
  ),
  lib.alert(
    'RdmaProbeControlFailing',
    'target:rdma_probe_control_failures:ratio_rate > %(threshold)s',
    'A host cannot be probed',
    |||
      {{ $value | humanizePercentage }} of the RDMA probes to {{ $labels.target }} are not sent, counted over all hosts of
      job {{ $labels.job }}: the control connection cannot be established. This says nothing about the RDMA path.
    |||,
  ),
  // One message per host, however many of its adapters fail; a single one is named.
  lib.alert(
    'RdmaProbeNicFailing',
    |||
      (
        (port:rdma_probe_paths:failing_ratio >= %(votes_share)s)
        unless on (%(target)s) count by (%(target)s) (port:rdma_probe_paths:failing_ratio >= %(votes_share)s) > 1
        or max by (%(target)s) (port:rdma_probe_paths:failing_ratio >= %(votes_share)s)
          and on (%(target)s) count by (%(target)s) (port:rdma_probe_paths:failing_ratio >= %(votes_share)s) > 1
      )
      unless on (%(rail)s) rail:rdma_probe_nics:failing_ratio >= %(votes_rail)s
    |||,
    'An adapter reaches few of its targets',
    |||
      {{ $value | humanizePercentage }} of the probed RDMA paths from {{ $labels.instance }}
      ({{ with $labels.device }}{{ . }}{{ else }}several adapters{{ end }}) fail or lose packets, to targets that other
      adapters reach.
    |||,
  ),
  lib.alert(
    'RdmaProbeTargetFailing',
    |||
      (
        max by (%(scope)s, target) (
          target_device:rdma_probe_paths:failing_ratio >= %(votes_share)s
          unless on (%(scope)s, device) rail:rdma_probe_nics:failing_ratio >= %(votes_rail)s
        )
        unless on (%(scope)s, target) label_replace(
          port:rdma_probe_paths:failing_ratio >= %(votes_share)s, "target", "$1", "%(instance)s", "([^:]+).*"
        )
      )
    |||,
    'Few adapters can reach a host',
    |||
      {{ $value | humanizePercentage }} of the probed RDMA paths to {{ $labels.target }} fail or lose packets on at least
      one rail, from adapters that reach other targets.
    |||,
  ),
  lib.alert(
    'RdmaProbeFabricFailing',
    'rail:rdma_probe_nics:failing_ratio >= %(votes_rail)s',
    'Many adapters of a rail cannot reach others',
    |||
      {{ $value | humanizePercentage }} of the adapters {{ $labels.device }} of job {{ $labels.job }} have RDMA paths
      that fail or lose packets, and that no single host explains. Suspect the switches of that rail, or the links between them.
    |||,
  ),
  lib.alert(
    'RdmaProbePathFailing',
    |||
      path:rdma_probe_failures:unexplained unless on (%(rail)s) rail:rdma_probe_nics:failing_ratio >= %(votes_rail)s
    |||,
    'One RDMA path fails',
    |||
      {{ $value | humanizePercentage }} of the RDMA probes from %(path)s to {{ $labels.target }} fail or are
      retransmitted (flow {{ $labels.flow }}), while both ends reach other peers.
    ||| % { path: path },
  ),
  lib.alert(
    'RdmaProbeTargetsDropped',
    'rdma_probe_targets{state="dropped"} > 0',
    'A host probes fewer targets than it should',
    |||
      {{ $labels.instance }} drops {{ $value }} targets of its list: it has no queue pairs left for them.
    |||,
  ),
  lib.alert(
    'RdmaProbeLatencyHigh',
    |||
      port_target_op:rdma_probe_rtt_seconds:p99_rate
        > on (%(scope)s, op) group_left () (%(factor)s * quantile by (%(scope)s, op) (0.5, port_target_op:rdma_probe_rtt_seconds:p50_rate))
      and port_target_op:rdma_probe_rtt_seconds:p99_rate > %(floor)s
    |||,
    'RDMA latency is far above that of other paths',
    |||
      The 99th percentile of the RDMA round trip from {{ $labels.instance }}
      {{ with $labels.device }}({{ . }} port {{ $labels.port }}) {{ end }}to
      {{ with $labels.target }}{{ . }}{{ else }}the targets{{ end }}{{ with $labels.target_group }} of {{ . }}{{ end }} is
      {{ $value | humanizeDuration }} (operation {{ $labels.op }}).
    |||,
  ),
])
