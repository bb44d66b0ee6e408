// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// The exporter itself: without it all other alerts are silent.
function(lib) lib.group('rdma-exporter', [
  lib.alert(
    'RdmaExporterDown',
    'up{%(exporterSelector)s} == 0',
    'An RDMA exporter does not answer',
    |||
      Prometheus cannot scrape the RDMA exporter of {{ $labels.instance }} (job {{ $labels.job }}). Nothing is known
      of the
      RDMA devices of that host.
    |||,
  ),
  lib.alert(
    'RdmaExporterAbsent',
    'absent(up{%(exporterSelector)s} == 1)',
    'Not one RDMA exporter is scraped',
    |||
      Prometheus has no RDMA exporter that answers: service discovery, job name or network. All RDMA alerts are blind.
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
    'RdmaExporterSlow',
    'scrape_duration_seconds{%(exporterSelector)s} > %(threshold)s',
    'Scraping an RDMA exporter takes long',
    |||
      A scrape of {{ $labels.instance }} takes {{ $value | humanizeDuration }}.
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
      sum by (job, instance, netdev) (
        rate(rdma_priority_packets_total[%(window)s])
        and on (job, instance, netdev, priority) rdma_dcb_pfc_enabled == 1
      ) > %(floor)s
      and on (job, instance, netdev)
      rate(rdma_port_packets_total[%(window)s])
        * on (job, instance, device, port) group_left (netdev) rdma_port_info{netdev!=""}
        * on (job, instance, device) group_left rdma_device_info{driver="bnxt_en"} == 0
    |||,
    'The RDMA counters of a Broadcom adapter stand still',
    |||
      {{ $labels.netdev }} of {{ $labels.instance }} carries {{ $value | humanize }} packets per second in lossless
      priorities,
      but its RDMA counters do not move%(devices)s: the driver repeats old values.
    ||| % { devices: lib.devicesOfNetdev },
  ),
])
