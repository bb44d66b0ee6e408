// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Exporter: whether the numbers on the other dashboards can be trusted, and what they cost.
function(config)
  local g = (import 'lib.libsonnet')(config);
  local alerts = config.alerts;

  // The label device of a collector is an RDMA device, a network interface or empty; the variable names RDMA devices only.
  local collectorName = '{{instance}} {{collector}} {{device}}';
  local perCollector(metric) = 'sum by (job, instance, collector) (rate(%s{%%(host)s}[$__rate_interval])) > 0' % metric;
  local success = { '0': { text: 'failed', color: 'red' }, '1': { text: 'read', color: 'green' } };

  local alive = g.row('Alive', [
    g.stat('Exporters answering') + g.unit('none')
    + g.empty('No exporter is known')
    + g.text('Exporters that Prometheus reached at its last scrape.', 'Compare with the number of hosts you expect.')
    + g.instant('sum(%s)' % g.target('up{%(host)s}')) + g.seeAlert('RdmaExporterAbsent'),

    g.stat('Not answering') + g.unit('none')
    + g.empty('No answer of Prometheus')
    + g.text('Exporters that Prometheus could not scrape.', 'Is the host up? Then: systemctl status rdma_exporter, and its log.')
    + g.instant('count(%s) or vector(0)' % g.target('up{%(host)s} == 0')) + g.step(1, g.color.warning) + g.seeAlert('RdmaExporterDown'),

    g.stat('Collectors failing') + g.unit('none')
    + g.empty('No answer of Prometheus')
    + g.text('Collectors that did not read a device in time, over all hosts.',
             'The timeline below names them; the log of that exporter says why, once.')
    + g.instant('count(rdma_exporter_collector_success{%(host)s} == 0) or vector(0)')
    + g.step(1, g.color.warning) + g.seeAlert('RdmaExporterCollectorFailed'),

    g.stat('Series dropped, 10 min') + g.unit('none')
    + g.empty('No exporter counts it')
    + g.text('Series left out because of a limit, so that some numbers are missing.',
             'Raise limits.series_per_device or limits.page_bytes, or exclude what you do not need.')
    + g.instant('sum(increase({__name__=~"rdma_exporter_(page_)?series_dropped_total",%%(host)s}[%s]))' % alerts.RdmaExporterSeriesDropped.window)
    + g.alert('RdmaExporterSeriesDropped'),

    g.stat('Saturated counters') + g.unit('none')
    + g.empty('No answer of Prometheus')
    + g.text('Counters narrower than 64 bits that stand at their maximum and no longer rise.',
             'Reset them with the tools of the fabric (perfquery -R); until then their rate is 0 and means nothing.')
    + g.instant('count(rdma_counters_saturated{%(port)s} == 1) or vector(0)') + g.step(1, g.color.info) + g.seeAlert('RdmaCounterSaturated'),

    g.stat('Slowest scrape') + g.unit('s')
    + g.empty('No exporter is known')
    + g.text('Time that Prometheus needed for the slowest of the last scrapes.', 'Find the collector below.')
    + g.instant('max(%s)' % g.target('scrape_duration_seconds{%(host)s}')),
  ]);

  local doing = g.row('Doing', [
    g.timeseries('Duration of scrapes') + g.unit('s')
    + g.empty('No chosen exporter was scraped')
    + g.text('Time of a scrape as Prometheus sees it.', 'A rise on one host: a device that answers slowly; the next panel names the collector.')
    + g.query(g.target('scrape_duration_seconds{%(host)s}'), '{{instance}}'),

    g.timeseries('Duration of collectors') + g.unit('s')
    + g.empty('No chosen exporter was scraped')
    + g.text('Time that each collector took, its slowest device. It rises without end while a read is stuck in the kernel.',
             'Turn the collector off for that device, or give it a shorter timeout; report the driver.')
    + g.query('max by (job, instance, collector) (rdma_exporter_collector_duration_seconds{%(host)s})', '{{instance}} {{collector}}'),

    g.timeseries('Series') + g.unit('short')
    + g.empty('No chosen exporter was scraped')
    + g.text('Samples of each scrape.', 'A step up: a device or a collector came; with thousands of queue pairs look at the owners limit.')
    + g.query(g.target('scrape_samples_scraped{%(host)s}'), '{{instance}}'),

    g.timeseries('Requests') + g.unit('reqps')
    + g.empty('No chosen exporter was scraped twice')
    + g.text('HTTP requests answered, by status code.', '401: wrong password in Prometheus. 503: too many connections. 504: nothing was ready in time.')
    + g.query('sum by (job, instance, code) (rate(rdma_exporter_http_requests_total{%(host)s}[$__rate_interval])) > 0', '{{instance}} {{code}}'),
  ]);

  local wrong = g.row('Wrong', [
    g.stateTimeline('Collectors that failed', 24, 7) + g.unit('none')
    + g.empty('All collectors read all devices')
    + g.text('Collectors that did not read a device in time at some moment of the range. Empty is good.',
             'One device: its driver or firmware hangs. All devices of a host: the host is overloaded.')
    + g.query(|||
                rdma_exporter_collector_success{%(host)s}
                and on (job, instance, collector, device)
                (min_over_time(rdma_exporter_collector_success{%(host)s}[$__range] @ end()) == 0)
              |||,
              collectorName)
    + g.mappings(success)
    + { fieldConfig+: { defaults+: { thresholds: { mode: 'absolute', steps: [{ color: 'red', value: null }, { color: 'green', value: 1 }] } } } }
    + g.seeAlert('RdmaExporterCollectorFailed'),

    g.table('Reads that failed', 12, 7) + g.unit('none', 0)
    + g.empty('None: all that exists could be read')
    + g.text('Sources that exist and could not be read in the time range, by reason (errno).',
             'EIO, ETIMEDOUT: the firmware of the device. EACCES, EPERM: a missing right, see Permissions in the README.')
    + g.rows('sum by (job, instance, collector, device, reason) (increase(rdma_exporter_read_errors_total{%(host)s}[$__range])) > 0')
    + g.columns([['instance', 'Host'], ['collector', 'Collector'], ['device', 'Device'], ['reason', 'Reason'], ['Value', 'Reads']])
    + g.toHost('Host')
    + g.sortBy('Reads'),

    g.timeseries('Late collectors', 12, 7) + g.unit('ops')
    + g.empty('None: all collectors were in time')
    + g.text('Collections that went on without a collector because it was late.',
             |||
               Occasionally on a busy host it does no harm. Always: raise scrape.timeout and the scrape timeout of
               Prometheus, or look at the device.
             |||)
    + g.query(perCollector('rdma_exporter_collector_timeouts_total'), '{{instance}} {{collector}}'),

    g.table('Counters at their maximum', 12, 7) + g.unit('none')
    + g.empty('None: all counters can go on')
    + g.text('Counters that stand at their maximum: their rates are 0 and mean nothing.', 'Reset them with the tools of the fabric.')
    + g.rows('rdma_counters_saturated{%(port)s} == 1')
    + g.columns([['instance', 'Host'], ['device', 'Device'], ['port', 'Port'], ['counter', 'Counter']])
    + g.toHost('Host')
    + g.seeAlert('RdmaCounterSaturated'),

    g.timeseries('Messages of the kernel lost', 12, 7) + g.unit('ops')
    + g.empty('The collector events is off')
    + g.text(|||
               Messages about devices and links that the kernel had to drop. Everything is read again then; nothing
               is lost but counts of events.
             |||,
             'Many: a storm of events on the host; look at the kernel log.')
    + g.query('sum by (job, instance, source) (rate(rdma_exporter_event_losses_total{%(host)s}[$__rate_interval]))', '{{instance}} {{source}}'),
  ]);

  local why = g.folded('Why: what it costs', [
    g.timeseries('CPU') + g.unit('percentunit')
    + g.empty('No chosen exporter was scraped twice')
    + g.text('Share of one processor that the exporter uses.', 'Below 1 % at a scrape every 15 s; more: a longer interval, fewer collectors.')
    + g.query(g.target('rate(process_cpu_seconds_total{%(host)s}[$__rate_interval])'), '{{instance}}'),

    g.timeseries('Memory') + g.unit('bytes')
    + g.empty('No chosen exporter was scraped')
    + g.text('Resident memory of the exporter.', 'It must not rise for days; if it does, please report it.')
    + g.query(g.target('process_resident_memory_bytes{%(host)s}'), '{{instance}}'),

    g.timeseries('Threads') + g.unit('short')
    + g.empty('No chosen exporter was scraped')
    + g.text(|||
               Threads of the exporter, and those that work on scrapes. More than one or two workers: reads are
               stuck in the kernel.
             |||,
             'The busy collector is the one whose duration only rises.')
    + g.query(g.target('process_threads{%(host)s}'), '{{instance}} threads') + g.query('rdma_exporter_workers{%(host)s}', '{{instance}} workers'),

    g.timeseries('Open files') + g.unit('percentunit')
    + g.empty('No chosen exporter was scraped')
    + g.text(|||
               Open file descriptors as a share of their limit; the exporter keeps counter files open within
               limits.kept_files.
             |||,
             'Near 100 %: raise LimitNOFILE of the service.')
    + g.query(g.target('process_open_fds{%(host)s} / process_max_fds{%(host)s}'), '{{instance}}'),

    g.table('Versions', 24, 7) + g.unit('none')
    + g.empty('No exporter is known')
    + g.text('Which build runs where.', 'Update the ones that differ.')
    + g.rows('rdma_exporter_build_info{%(host)s}')
    + g.columns([['instance', 'Host'], ['version', 'Version'], ['revision', 'Revision'], ['compiler', 'Compiler']])
    + g.toHost('Host'),
  ]);

  g.dashboard('rdma-exporter', 'Exporter', 'Whether the numbers can be trusted: scrapes, collectors, limits, cost.', [alive, doing, wrong, why])
