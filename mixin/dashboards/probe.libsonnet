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
    + g.text('Paths (device to target) whose last probe came back.', 'Compare with the number of targets that you configured.')
    + g.instant('sum(rdma_probe_up{%s})' % target),

    g.stat('Paths down', 6) + g.unit('none')
    + g.text('Paths whose last probe failed.', 'The matrix below tells whether one host or one target is to blame.')
    + g.instant('count(rdma_probe_up{%s} == 0) or vector(0)' % target) + g.step(1, g.color.critical) + g.seeAlert('RdmaProbeFailing'),

    g.stat('Probes failed', 6) + g.unit('percentunit')
    + g.text(|||
               Share of probes that failed in the time range, of all paths. Attempts go on while a peer is away, so
               it does not clear itself.
             |||,
             'Above 1 % some job notices. See which stage fails.')
    + g.instant('sum(rate(rdma_probe_failures_total{%s}[$__range])) / sum(rate(rdma_probe_attempts_total{%s}[$__range]))' % [target, target])
    + ratioSteps,

    g.stat('Slowest path now', 6) + g.unit('s')
    + g.text('The longest of the last round trips of all paths.', 'Near 67 ms and its multiples: packets were lost and sent again after the acknowledgement timeout.')
    + g.instant('max(rdma_probe_last_rtt_seconds{%s})' % target) + g.seeAlert('RdmaProbeLatencyHigh'),
  ]);

  local doing = g.row('Doing', [
    g.heatmap('Round trips') + { axisUnit: 's' } + g.unit('short')
    + g.text('How many probes (colour) took how long (height), all paths together.',
             'A second band above the usual one: retransmissions (milliseconds), or a part of the paths with a queue.')
    + g.query('sum by (le) (increase(rdma_probe_rtt_seconds_bucket{%(port)s}[$__rate_interval]))', '{{le}}', format='heatmap'),

    g.timeseries('Round trip, percentiles') + g.unit('s') + g.logarithmic
    + g.text('Median, 99th and 99.9th percentile by operation. write: network and the two cards. echo: with both processes.',
             'echo rises and write does not: the hosts are busy. Both rise: the network; look for pause and ECN marks.')
    + g.query(quantile(0.5, 'rdma_probe_rtt_seconds', 'op'), '{{op}} p50')
    + g.query(quantile(0.99, 'rdma_probe_rtt_seconds', 'op'), '{{op}} p99')
    + g.query(quantile(0.999, 'rdma_probe_rtt_seconds', 'op'), '{{op}} p99.9') + g.seeAlert('RdmaProbeLatencyHigh'),
  ]);

  local wrong = g.row('Wrong', [
    g.table('Failures, from host to target', 12, 9) + g.unit('percentunit')
    + g.text(|||
               Share of probes that failed in the time range. A row that is red: that host. A column that is red:
               that target. One cell: the path.
             |||,
             'Row or column: look at that host on RDMA / Node & port. One cell: the switches between the two.')
    + g.rows(failed('job, instance, target', '$__range')) + g.matrix('instance', 'target', 'Value') + ratioSteps
    + g.coloredNumbers(g.absentIsBlank),

    g.table('Shortest round trip, from host to target', 12, 9) + g.unit('s')
    + g.text('The shortest round trip of the last five minutes, the length of the path without queues.',
             'One that has become longer: the path has changed (routing, a link that is gone).')
    + g.rows('min by (job, instance, target) (rdma_probe_min_rtt_seconds{%s})' % target) + g.matrix('instance', 'target', 'Value'),

    g.timeseries('Failures by stage and reason') + g.unit('ops')
    + g.text('Where probes fail: resolve, auth, exchange (setting up), op (the verb itself), echo (the far process).',
             'op retry_exc_err: the path swallows packets. auth: keys or certificates. not_connected: the peer is away.')
    + g.query('sum by (stage, reason) (rate(rdma_probe_failures_total{%s}[$__rate_interval])) > 0' % target, '{{stage}} {{reason}}')
    + g.noValue('none'),

    g.timeseries('Retransmissions suspected') + g.unit('ops')
    + g.text(|||
               Probes that took so long that a packet must have been lost and sent again: an RC connection hides
               loss otherwise.
             |||,
             'Compare with ACK timeouts and NAKs of the same port.')
    + g.query('sum by (job, instance, device, target) (rate(rdma_probe_retransmit_suspected_total{%s}[$__rate_interval])) > 0' % target, pathName)
    + g.noValue('none'),
  ]);

  local why = g.row('Why: network or host', [
    g.timeseries('Time in the hosts') + g.unit('s')
    + g.text('Part of the echo that is not network: both processes together, and the far process by its own clock (p99).',
             'High: the CPU of that host is busy or sleeps deeply; the network is not to blame.')
    + g.query('max by (job, instance, device, target) (rdma_probe_host_delay_seconds{%s})' % target, pathName + ' both')
    + g.query(quantile(0.99, 'rdma_probe_responder_delay_seconds', 'job, instance, device'), '{{instance}} {{device}} far process'),

    g.timeseries('Samples that slept') + g.unit('percentunit')
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
    + g.text('New connections of the probe. After any error it makes a new one.', 'A steady rate: paths or peers that fail again and again.')
    + g.query('sum by (job, instance, device) (rate(rdma_probe_connects_total{%(device)s}[$__rate_interval]))', '{{instance}} {{device}}'),

    g.timeseries('Queue pairs of the probe') + g.unit('short')
    + g.text('Queue pairs that the probe holds, as prober and as responder.', 'At the limit further targets are dropped: raise it, or probe fewer targets.')
    + g.query('sum by (job, instance, device, role) (rdma_probe_qps{%(device)s})', '{{instance}} {{device}} {{role}}'),
  ]);

  g.dashboard('rdma-probe', 'Probe mesh', 'What RC verbs see between hosts: latency, failures, and which end is to blame.', [alive, doing, wrong, why], [
    g.variable('target', 'Target', 'rdma_probe_up', '%(port)s'),
  ])
