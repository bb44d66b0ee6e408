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
    'RDMA exporters of many hosts do not answer',
    |||
      Prometheus cannot scrape {{ $value | humanizePercentage }} of the RDMA exporters of job {{ $labels.job }}, which
      answered within the last day: hosts, network, or a roll-out of the exporter.
    |||,
  ),
  lib.alert(
    'RdmaExporterDown',
    |||
      up == 0 and on (%(target)s) last_over_time(instance:rdma_exporter_build_info:max[%(hold)s])
      or up{%(exporterSelector)s} == 0
    |||,
    'An RDMA exporter does not answer',
    |||
      Prometheus cannot scrape the RDMA exporter of {{ $labels.instance }} (job {{ $labels.job }}). Nothing is known
      of the RDMA devices of that host.
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
    'Prometheus has no RDMA exporter',
    |||
      No target gives rdma_exporter_build_info{%(selector)s}: service discovery, the scrape configuration, or a Prometheus that has
      these rules and no RDMA hosts. Nothing is known of RDMA there.
    |||,
  ),
  lib.alert(
    'RdmaExporterCollectorFailed',
    'rdma_exporter_collector_success == 0',
    'A part of the RDMA metrics is missing',
    |||
      Collector {{ $labels.collector }} cannot read {{ with $labels.device }}{{ . }}{{ else }}the host{{ end }} on
      {{ $labels.instance }}: late, stuck or refused.
    |||,
  ),
  lib.alert(
    'RdmaExporterSeriesDropped',
    |||
      increase(rdma_exporter_series_dropped_total[%(window)s]) > %(threshold)s
      or increase(rdma_exporter_page_series_dropped_total[%(window)s]) > %(threshold)s
    |||,
    'An RDMA exporter leaves out series',
    |||
      The exporter of {{ $labels.instance }} left out {{ $value | humanize }} series because of a limit
      {{- with $labels.reason }} ({{ . }}, collector {{ $labels.collector }}, device {{ $labels.device }}){{ end }}.
    |||,
  ),
  lib.alert(
    'RdmaExporterReloadFailed',
    |||
      rdma_exporter_config_last_reload_successful == 0
      or rdma_exporter_web_config_last_reload_successful == 0
    |||,
    'An RDMA exporter runs with an old configuration',
    |||
      {{ $labels.instance }} could not load its configuration, or its web configuration, when it changed; the one before is
      in force.
    |||,
  ),
  lib.alert(
    'RdmaExporterReplay',
    'rdma_exporter_replay_info == 1',
    'An RDMA exporter serves a recording',
    |||
      {{ $labels.instance }} was started with --replay: what it serves is the recording {{ $labels.recording }} and not that
      host.
    |||,
  ),
  lib.alert(
    'RdmaExporterPrivilegeMissing',
    'rdma_exporter_missing_privilege == 1',
    'An RDMA exporter lacks a privilege',
    |||
      The exporter of {{ $labels.instance }} lacks {{ $labels.privilege }}, and with it {{ $labels.feature }}.
    |||,
  ),
  lib.alert(
    'RdmaCounterSaturated',
    'rdma_counters_saturated == 1',
    'A port counter stands at its maximum',
    |||
      Counter {{ $labels.counter }} of {{ $labels.device }} port {{ $labels.port }} on {{ $labels.instance }} cannot
      count
      further until somebody resets it; alerts on it are blind.
    |||,
  ),
  lib.alert(
    'RdmaCountersFrozen',
    |||
      sum by (%(target)s, netdev) (
        rate(rdma_priority_packets_total[%(window)s])
        and on (%(target)s, netdev, priority) rdma_dcb_pfc_enabled == 1
      ) > %(floor)s
      and on (%(target)s, netdev)
      rate(rdma_port_packets_total[%(window)s])
        * on (%(target)s, device, port) group_left (netdev) rdma_port_info{netdev!=""}
        * on (%(target)s, device) group_left rdma_device_info{driver="bnxt_en"} == 0
    |||,
    'The RDMA counters of a Broadcom adapter stand still',
    |||
      {{ $labels.netdev }} of {{ $labels.instance }} carries {{ $value | humanize }} packets per second in lossless
      priorities,
      but its RDMA counters do not move: the driver repeats old values.
    |||,
  ),
])
