// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Exporter: whether the numbers on the other dashboards can be trusted, and what they cost.
function(config)
  local g = (import 'lib.libsonnet')(config);
  local alerts = config.alerts;

  local perCollector(metric) = 'sum by (job, instance, collector) (rate(%s{%%(host)s}[$__rate_interval])) > 0' % metric;
  local failing = { '1': { text: 'failing', color: 'red' } };

  local alive = g.row('Alive', [
    g.stat('Exporters answering') + g.unit('none')
    + g.empty('No exporter found')
    + g.text('Exporters that answered the last scrape.', 'Compare with the number of hosts you expect.')
    + g.instant('sum(%s)' % g.target('up{%(host)s}')) + g.seeAlert('RdmaExporterAbsent'),

    g.stat('Not answering') + g.unit('none')
    + g.empty('Prometheus did not answer')
    + g.text('Exporters that did not answer the last scrape.', 'If the host is up, check systemctl status rdma_exporter and its log.')
    + g.instant('count(%s) or vector(0)' % g.target('up{%(host)s} == 0')) + g.step(1, g.color.warning) + g.seeAlert('RdmaExporterDown'),

    g.stat('Collectors failing') + g.unit('none')
    + g.empty('Prometheus did not answer')
    + g.text('Collectors that could not read a device, or not in time, on all hosts together.',
             'The timeline below names them; the log of that exporter gives the reason once.')
    + g.instant('count(max without (reason) (rdma_exporter_collector_failing{%(host)s})) or vector(0)')
    + g.step(1, g.color.warning) + g.seeAlert('RdmaExporterCollectorFailed'),

    g.stat('Series dropped, 10 min') + g.unit('none')
    + g.empty('No exporter reports it')
    + g.text('Series dropped because a limit was reached: some data is missing.',
             'Raise limits.series_per_device or limits.page_bytes, or exclude what you do not need.')
    + g.instant('sum(increase({__name__=~"rdma_exporter_(page_)?series_dropped_total",%%(host)s}[%s]))' % alerts.RdmaExporterSeriesDropped.window)
    + g.alert('RdmaExporterSeriesDropped'),

    g.stat('Saturated counters') + g.unit('none')
    + g.empty('Prometheus did not answer')
    + g.text('Counters narrower than 64 bits that have reached their maximum and no longer rise.',
             'Reset them with the fabric tools (perfquery -R). Until then their rate is 0 and meaningless.')
    + g.instant('count(rdma_port_counters_saturated{%(port)s} == 1) or vector(0)') + g.step(1, g.color.info) + g.seeAlert('RdmaCounterSaturated'),

    g.stat('Slowest scrape') + g.unit('s')
    + g.empty('No exporter found')
    + g.text('Duration of the slowest of the last scrapes.', 'Find the slow collector below.')
    + g.instant('max(%s)' % g.target('scrape_duration_seconds{%(host)s}')),
  ]);

  local doing = g.row('Doing', [
    g.timeseries('Duration of scrapes') + g.unit('s')
    + g.empty('No selected exporter was scraped')
    + g.text('Duration of each scrape as Prometheus measures it.', 'A rise on one host means that a device answers slowly; the next panel shows the collector.')
    + g.query(g.target('scrape_duration_seconds{%(host)s}'), '{{instance}}'),

    g.timeseries('Duration of collectors') + g.unit('s')
    + g.empty('No selected exporter was scraped')
    + g.text(|||
               Time that each collector took for all devices together. It keeps rising while a read
               is stuck in the kernel.
             |||,
             |||
               Exclude the device, shorten the timeout of the collector, or turn it off; report the
               fault to the driver's vendor.
             |||)
    + g.query('rdma_exporter_collector_duration_seconds{%(host)s}', '{{instance}} {{collector}}'),

    g.timeseries('Series') + g.unit('short')
    + g.empty('No selected exporter was scraped')
    + g.text('Number of samples per scrape.', |||
      A step up means a new device or collector. With thousands of queue pairs, check
      collector.resource.owners_top.
    |||)
    + g.query(g.target('scrape_samples_scraped{%(host)s}'), '{{instance}}'),

    g.timeseries('Requests') + g.unit('reqps')
    + g.empty('No selected exporter was scraped twice')
    + g.text('HTTP responses by status code.', '401: Prometheus sends a wrong password. 503: too many connections. 504: no result was ready in time.')
    + g.query('sum by (job, instance, code) (rate(rdma_exporter_http_requests_total{%(host)s}[$__rate_interval])) > 0', '{{instance}} {{code}}'),
  ]);

  local wrong = g.row('Wrong', [
    g.stateTimeline('Collectors that failed', 24, 7) + g.unit('none')
    + g.empty('All collectors could read all devices')
    + g.text('Collectors that could not read a device at some time in the range, and why. Empty is good.',
             |||
               busy, back_off: a read of that device hangs in the kernel. late, not_started for all
               devices of a host: the host is overloaded. failed: see the table below.
             |||)
    + g.query('rdma_exporter_collector_failing{%(host)s}', '{{instance}} {{collector}} {{device}} {{reason}}')
    + g.mappings(failing)
    + g.seeAlert('RdmaExporterCollectorFailed'),

    g.table('Reads that failed', 12, 7) + g.unit('none', 0)
    + g.empty('None: every existing source could be read')
    + g.text('Failed reads of existing sources in the time range, by reason (errno).',
             |||
               EIO, ETIMEDOUT: suspect the firmware of the device. EACCES, EPERM: a privilege is
               missing, see docs/PRIVILEGES.md.
             |||)
    + g.rows('sum by (job, instance, collector, device, reason) (increase(rdma_exporter_read_errors_total{%(host)s}[$__range])) > 0')
    + g.columns([['instance', 'Host'], ['collector', 'Collector'], ['device', 'Device'], ['reason', 'Reason'], ['Value', 'Reads']])
    + g.toHost('Host')
    + g.sortBy('Reads'),

    g.timeseries('Late collectors', 12, 7) + g.unit('ops')
    + g.empty('None: all collectors finished in time')
    + g.text('Collections that continued without a late collector.',
             |||
               Harmless if it happens occasionally on a busy host. If it persists, raise
               scrape.timeout and the scrape timeout of Prometheus, or check the device.
             |||)
    + g.query(perCollector('rdma_exporter_collector_timeouts_total'), '{{instance}} {{collector}}'),

    g.table('Counters at their maximum', 12, 7) + g.unit('none')
    + g.empty('None: no counter has reached its maximum')
    + g.text('Counters that have reached their maximum: their rates are 0 and meaningless.', 'Reset them with the fabric tools.')
    + g.rows('rdma_port_counters_saturated{%(port)s} == 1')
    + g.columns([['instance', 'Host'], ['device', 'Device'], ['port', 'Port'], ['counter', 'Counter']])
    + g.toHost('Host')
    + g.seeAlert('RdmaCounterSaturated'),

    g.timeseries('Lost kernel messages', 12, 7) + g.unit('ops')
    + g.empty('The collector `events` is off')
    + g.text(|||
               Messages about devices and links that the kernel dropped. The exporter then reads
               everything again; only event counts are lost.
             |||,
             'A high rate means a storm of events on the host: check the kernel log.')
    + g.query('sum by (job, instance, source) (rate(rdma_exporter_event_losses_total{%(host)s}[$__rate_interval]))', '{{instance}} {{source}}'),
  ]);

  local why = g.folded('Why: what it costs', [
    g.timeseries('CPU') + g.unit('percentunit')
    + g.empty('No selected exporter was scraped twice')
    + g.text('CPU usage of the exporter, as a share of one processor.', 'Expect less than 1 % with a scrape every 15 s. If it is more, use a longer interval or fewer collectors.')
    + g.query(g.target('rate(process_cpu_seconds_total{%(host)s}[$__rate_interval])'), '{{instance}}'),

    g.timeseries('Memory') + g.unit('bytes')
    + g.empty('No selected exporter was scraped')
    + g.text('Resident memory of the exporter.', 'It should not keep rising for days. If it does, please report it.')
    + g.query(g.target('process_resident_memory_bytes{%(host)s}'), '{{instance}}'),

    g.timeseries('Threads') + g.unit('short')
    + g.empty('No selected exporter was scraped')
    + g.text(|||
               All threads of the exporter, and the workers that run scrapes. More than one or two
               workers mean that reads are stuck in the kernel.
             |||,
             'The stuck collector is the one whose duration keeps rising.')
    + g.query(g.target('process_threads{%(host)s}'), '{{instance}} threads') + g.query('rdma_exporter_workers{%(host)s}', '{{instance}} workers'),

    g.timeseries('Open files') + g.unit('percentunit')
    + g.empty('No selected exporter was scraped')
    + g.text(|||
               Open file descriptors as a share of their limit; the exporter keeps counter files open within
               limits.kept_files.
             |||,
             'Near 100 %, raise LimitNOFILE of the service.')
    + g.query(g.target('process_open_fds{%(host)s} / process_max_fds{%(host)s}'), '{{instance}}'),

    g.table('Versions', 24, 7) + g.unit('none')
    + g.empty('No exporter found')
    + g.text('Which version runs on which host.', 'Update the hosts that differ.')
    + g.rows('rdma_exporter_build_info{%(host)s}')
    + g.columns([['instance', 'Host'], ['version', 'Version'], ['revision', 'Revision'], ['compiler', 'Compiler']])
    + g.toHost('Host'),
  ]);

  g.dashboard('rdma-exporter', 'Exporter', 'Whether the data can be trusted: scrapes, collectors, limits, cost.', [alive, doing, wrong, why])
