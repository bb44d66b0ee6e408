// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Probe mesh: what RC verbs see between hosts: latency, failures, which end is to blame.
function(config)
  local g = (import 'lib.libsonnet')(config);

  local target = '%(port)s,target=~"$target"';
  local failed(by, window) =
    'sum by (%s) (rate(rdma_probe_failures_total{%s}[%s])) / sum by (%s) (rate(rdma_probe_attempts_total{%s}[%s]))'
    % [by, target, window, by, target, window];
  local pathName = '{{instance}} {{device}} -> {{target}}';

  // Classic buckets, or the native histogram where Prometheus stores that.
  local quantile(q, metric, by) =
    |||
      histogram_quantile(%g, sum by (%s, le) (rate(%s_bucket{%%(port)s}[$__rate_interval])))
      or histogram_quantile(%g, sum by (%s) (rate(%s{%%(port)s}[$__rate_interval])))
    ||| % [q, by, metric, q, by, metric];

  local ratioSteps = g.alert('RdmaProbeLoss') + g.alert('RdmaProbeFailing');

  local alive = g.row('Alive', [
    g.stat('Paths up', 6) + g.unit('none')
    + g.empty('The probe is off')
    + g.text('Paths (device to target) whose last probe came back.', 'Compare with the number of targets that you configured.')
    + g.instant('sum(rdma_probe_up{%s})' % target),

    g.stat('Paths down', 6) + g.unit('none')
    + g.empty('No answer of Prometheus')
    + g.text('Paths whose last probe failed.', 'The matrix below tells whether one host or one target is to blame.')
    + g.instant('count(rdma_probe_up{%s} == 0) or vector(0)' % target) + g.step(1, g.color.critical) + g.seeAlert('RdmaProbeFailing'),

    g.stat('Probes failed', 6) + g.unit('percentunit')
    + g.empty('The probe is off')
    + g.text(|||
               Share of probes that failed in the time range, of all paths. Attempts go on while a peer is away, so
               it does not clear itself.
             |||,
             'Above 1 % some job notices. See which stage fails.')
    + g.instant('sum(rate(rdma_probe_failures_total{%s}[$__range])) / sum(rate(rdma_probe_attempts_total{%s}[$__range]))' % [target, target])
    + ratioSteps,

    g.stat('Slowest path now', 6) + g.unit('s')
    + g.empty('The probe is off')
    + g.text('The longest of the last round trips of all paths.', 'Near 67 ms and its multiples: packets were lost and sent again after the acknowledgement timeout.')
    + g.instant('max(rdma_probe_last_rtt_seconds{%s})' % target) + g.seeAlert('RdmaProbeLatencyHigh'),
  ]);

  local doing = g.row('Doing', [
    g.heatmap('Round trips') + { axisUnit: 's' } + g.unit('short')
    + g.empty('The probe is off, or Prometheus keeps native histograms only')
    + g.text('How many probes (colour) took how long (height), all paths together.',
             'A second band above the usual one: retransmissions (milliseconds), or a part of the paths with a queue.')
    + g.query('sum by (le) (increase(rdma_probe_rtt_seconds_bucket{%(port)s}[$__rate_interval]))', '{{le}}', format='heatmap'),

    g.timeseries('Round trip, percentiles') + g.unit('s') + g.logarithmic
    + g.empty('The probe is off, or nothing comes back')
    + g.text('Median, 99th and 99.9th percentile by operation. write: network and the two cards. echo: with both processes.',
             'echo rises and write does not: the hosts are busy. Both rise: the network; look for pause and ECN marks.')
    + g.query(quantile(0.5, 'rdma_probe_rtt_seconds', 'op'), '{{op}} p50')
    + g.query(quantile(0.99, 'rdma_probe_rtt_seconds', 'op'), '{{op}} p99')
    + g.query(quantile(0.999, 'rdma_probe_rtt_seconds', 'op'), '{{op}} p99.9') + g.seeAlert('RdmaProbeLatencyHigh'),
  ]);

  // First a few cells, then the worst of each kind, then the matrix of what they were narrowed to: 500 hosts that probe
  // four targets each from eight devices are 16,000 cells.
  local leaf = if config.dashboards.leaf == '' then 'op' else config.dashboards.leaf;
  local worst(title, by, column, heading, more, what, todo) =
    g.table(title, 8, 9) + g.unit('percentunit') + g.text(what, todo)
    + g.rows('topk(20, (%s) > 0)' % failed('job, ' + by, '$__range'))
    + g.columns([[column, heading]] + more + [['Value', 'Failed']])
    + g.sortBy('Failed') + g.narrowed(heading, 'rdma-probe', column)
    + g.override('byName', 'Failed', g.colored) + ratioSteps
    + g.empty('None fails, or the probe is off');
  local matrix(title, unit, expression, row, column) =
    g.table(title, 12, 9) + g.unit(unit) + g.rows(expression) + g.matrix(row, column, 'Value');

  local wrong = g.row('Wrong', [
    matrix('Failures, by rail', 'percentunit', failed(leaf + ', device', '$__range'), leaf, 'device')
    + g.text(|||
               Share of probes that failed in the time range, by the prober's device, which names its rail, and %s.
               A red column: that rail. A red line of echo alone: the hosts, not the network.
             ||| % (if leaf == 'op' then 'by operation' else 'by its ' + leaf),
             'Click on a cell to narrow this page to the rail; then go on with the worst hosts and targets.')
    + g.coloredNumbers(g.absentIsBlank) + g.narrowedToColumn('rdma-probe', 'device') + ratioSteps
    + g.empty('The probe is off'),

    g.timeseries('Failures by stage and reason') + g.unit('ops')
    + g.empty('None, or the probe is off')
    + g.text('Where probes fail: resolve, auth, exchange (setting up), op (the verb itself), echo (the far process).',
             'op retry_exc_err: the path swallows packets. auth: keys or certificates. not_connected: the peer is away.')
    + g.query('sum by (stage, reason) (rate(rdma_probe_failures_total{%s}[$__rate_interval])) > 0' % target, '{{stage}} {{reason}}'),

    worst('Worst hosts that probe',
          'instance, device',
          'instance',
          'Host',
          [['device', 'Device']],
          'Probers of which most probes failed in the time range, to all of their targets.',
          'One host alone: its adapter, cable or switch port. Click on it to see its targets only.'),
    worst('Worst targets',
          'target',
          'target',
          'Target',
          [],
          'Targets of which most probes failed in the time range, from all hosts.',
          'One target alone: that host. Click on it to see who fails to reach it. Without a name: targets that rotate.'),
    worst('Worst paths',
          'instance, device, target',
          'instance',
          'Host',
          [['device', 'Device'], ['target', 'Target']],
          'Paths (device to target) of which most probes failed in the time range.',
          'Paths between two racks only: the switches between them.'),

    g.timeseries('Retransmissions suspected', 24, 6) + g.unit('ops')
    + g.empty('None, or the probe is off')
    + g.text(|||
               Probes that took so long that a packet must have been lost and sent again: an RC connection hides
               loss otherwise.
             |||,
             'Compare with ACK timeouts and NAKs of the same port.')
    + g.query('sum by (job, instance, device, target) (rate(rdma_probe_retransmit_suspected_total{%s}[$__rate_interval])) > 0' % target, pathName),
  ]);

  local pairs = g.folded('Wrong: from host to target', [
    matrix('Failures, from host to target',
           'percentunit',
           'topk(400, %s)' % failed('job, instance, target', '$__range'),
           'instance',
           'target')
    + g.text(|||
               Share of probes that failed in the time range, of the 400 worst pairs. A row that is red: that host. A
               column that is red: that target. One cell: the path.
             |||,
             'Row or column: look at that host on RDMA / Host. One cell: the switches between the two.')
    + g.coloredNumbers(g.absentIsBlank) + ratioSteps
    + g.empty('The probe is off'),

    matrix('Shortest round trip, from host to target',
           's',
           'topk(400, min by (job, instance, target) (rdma_probe_min_rtt_seconds{%s}))' % target,
           'instance',
           'target')
    + g.text('The shortest round trip of the last five minutes, the length of the path without queues; the 400 longest.',
             'One that has become longer: the path has changed (routing, a link that is gone).')
    + g.empty('The probe is off'),
  ]);

  local why = g.folded('Why: network or host', [
    g.timeseries('Time in the hosts') + g.unit('s')
    + g.empty('The probe is off, or makes no echo')
    + g.text('Part of the echo that is not network: both processes together, and the far process by its own clock (p99).',
             'High: the CPU of that host is busy or sleeps deeply; the network is not to blame.')
    + g.query('max by (job, instance, device, target) (rdma_probe_host_delay_seconds{%s})' % target, pathName + ' both')
    + g.query(quantile(0.99, 'rdma_probe_responder_delay_seconds', 'job, instance, device'), '{{instance}} {{device}} far process'),

    g.timeseries('Samples that slept') + g.unit('percentunit')
    + g.empty('The probe is off')
    + g.text('Share of samples whose completion was seen after a sleep; they contain an interrupt and a wake-up.',
             |||
               Above a tenth the latencies above include the host: leave the probe a processor, or read the
               shortest round trips.
             |||)
    + g.query(|||
                sum by (job, instance, device) (rate(rdma_probe_samples_total{%(device)s,wait="event"}[$__rate_interval]))
                / sum by (job, instance, device) (rate(rdma_probe_samples_total{%(device)s}[$__rate_interval]))
              |||,
              '{{instance}} {{device}}') + g.range(0, 1),

    g.timeseries('Connections made') + g.unit('ops')
    + g.empty('The probe is off')
    + g.text('New connections of the probe. After any error it makes a new one.', 'A steady rate: paths or peers that fail again and again.')
    + g.query('sum by (job, instance, device) (rate(rdma_probe_connects_total{%(device)s}[$__rate_interval]))', '{{instance}} {{device}}'),

    g.timeseries('Queue pairs of the probe') + g.unit('short')
    + g.empty('The probe is off')
    + g.text('Queue pairs that the probe holds, as prober and as responder.', 'At the limit further targets are dropped: raise it, or probe fewer targets.')
    + g.query('sum by (job, instance, device, role) (rdma_probe_qps{%(device)s})', '{{instance}} {{device}} {{role}}'),
  ]);

  g.dashboard('rdma-probe', 'Probe mesh', 'What RC verbs see between hosts: latency, failures, and which end is to blame.', [alive, doing, wrong, pairs, why], [
    g.variable('target', 'Target', 'rdma_probe_up', '%(port)s'),
  ])
