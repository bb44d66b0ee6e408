// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// The exporter itself: without it all other alerts are silent.
function(lib) lib.group('rdma-exporter', [
  lib.alert(
    'RdmaExportersDown',
    |||
      count by (%(scope)s) (up == 0 and on (%(target)s) last_over_time(instance:rdma_exporter_build_info:max[%(hold)s]))
        / count by (%(scope)s) (up and on (%(target)s) last_over_time(instance:rdma_exporter_build_info:max[%(hold)s])) > %(threshold)s
      and count by (%(scope)s) (up == 0 and on (%(target)s) last_over_time(instance:rdma_exporter_build_info:max[%(hold)s])) >= %(hosts)s
    |||,
    'RDMA exporters on many hosts are down',
    |||
      Prometheus cannot scrape {{ $value | humanizePercentage }} of the RDMA exporters of job {{ $labels.job }} that
      answered within the last day. Suspect the hosts, the network, or a rollout of the exporter.
    |||,
  ),
  lib.alert(
    'RdmaExporterDown',
    |||
      up == 0 and on (%(target)s) last_over_time(instance:rdma_exporter_build_info:max[%(hold)s])
      or up{%(exporterSelector)s} == 0
    |||,
    'An RDMA exporter is down',
    |||
      Prometheus cannot scrape the RDMA exporter on {{ $labels.instance }} (job {{ $labels.job }}). The state of its RDMA
      devices is unknown.
    |||,
  ),
  // Exporters that are known and do not answer have alerts of their own; this one is about targets that are gone, or never
  // were there. absent() has no cluster: it speaks only where no cluster was known within the day.
  lib.alert(
    'RdmaExporterAbsent',
    |||
      group by (%(cluster)s) (last_over_time(instance:rdma_exporter_build_info:max{%(selector)s}[%(hold)s]))
        unless on (%(cluster)s) rdma_exporter_build_info{%(selector)s}
        unless on (%(cluster)s) (up == 0 and on (%(target)s) last_over_time(instance:rdma_exporter_build_info:max[%(hold)s]))
      or on () (absent(rdma_exporter_build_info{%(selector)s}) unless on () last_over_time(instance:rdma_exporter_build_info:max{%(selector)s}[%(hold)s]))
    |||,
    'Prometheus scrapes no RDMA exporter',
    |||
      No target exposes rdma_exporter_build_info{%(selector)s}. Check service discovery and the scrape configuration, or whether
      this Prometheus loads these rules without having any RDMA hosts. Nothing is known about RDMA there.
    |||,
  ),
  lib.alert(
    'RdmaExporterCollectorFailed',
    'max without (reason) (rdma_exporter_collector_failing) == 1',
    'Some RDMA metrics are missing',
    |||
      Collector {{ $labels.collector }} cannot read {{ with $labels.device }}{{ . }}{{ else }}the host{{ end }} on
      {{ $labels.instance }}: the read is late, stuck or refused.
    |||,
  ),
  lib.alert(
    'RdmaExporterSeriesDropped',
    |||
      increase(rdma_exporter_series_dropped_total[%(window)s]) > %(threshold)s
      or increase(rdma_exporter_page_series_dropped_total[%(window)s]) > %(threshold)s
    |||,
    'An RDMA exporter drops series',
    |||
      The exporter on {{ $labels.instance }} dropped {{ $value | humanize }} series because of a limit
      {{- with $labels.reason }} ({{ . }}, collector {{ $labels.collector }}, device {{ $labels.device }}){{ end }}.
    |||,
  ),
  lib.alert(
    'RdmaExporterReloadFailed',
    |||
      rdma_exporter_config_last_reload_successful == 0
      or rdma_exporter_web_config_last_reload_successful == 0
    |||,
    'An RDMA exporter runs with an outdated configuration',
    |||
      {{ $labels.instance }} could not load its changed configuration, or web configuration; the previous one stays
      in force.
    |||,
  ),
  lib.alert(
    'RdmaExporterReplay',
    'rdma_exporter_replay_info == 1',
    'An RDMA exporter serves a recording',
    |||
      {{ $labels.instance }} was started with --replay: it serves the recording {{ $labels.recording }}, not the state of the
      host.
    |||,
  ),
  lib.alert(
    'RdmaExporterPrivilegeMissing',
    'rdma_exporter_missing_privilege == 1',
    'An RDMA exporter lacks a privilege',
    |||
      The exporter on {{ $labels.instance }} lacks {{ $labels.privilege }}, so {{ $labels.feature }} is unavailable.
    |||,
  ),
  lib.alert(
    'RdmaCounterSaturated',
    'rdma_port_counters_saturated == 1',
    'A port counter is saturated',
    |||
      Counter {{ $labels.counter }} of {{ $labels.device }} port {{ $labels.port }} on {{ $labels.instance }} has
      reached its maximum and stays there until it is reset; alerts based on it can no longer fire.
    |||,
  ),
  lib.alert(
    'RdmaCountersFrozen',
    |||
      sum by (%(target)s, device, port, netdev) (
        rate(rdma_priority_packets_total[%(window)s]) and ignoring (direction) rdma_dcb_pfc_enabled == 1
      ) > %(floor)s
      and on (%(target)s, device, port) rate(rdma_port_packets_total[%(window)s]) == 0
      and on (%(target)s, device) rdma_device_info{driver="bnxt_en"}
    |||,
    'The RDMA counters of a Broadcom adapter are frozen',
    |||
      {{ $labels.netdev }} ({{ $labels.device }} port {{ $labels.port }}) of {{ $labels.instance }} carries {{ $value | humanize }} packets per second in lossless
      priorities, but its RDMA counters do not move: the driver repeats old values.
    |||,
  ),
])
