// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Probe mesh: what RC verbs see between hosts: latency, failures, which end is to blame.
function(config)
  local g = (import 'lib.libsonnet')(config);

  local target = '%(port)s,target=~"$target"';
  local failed(by, window, of=target) =
    'sum by (%s) (rate(rdma_probe_failures_total{%s}[%s])) / sum by (%s) (rate(rdma_probe_attempts_total{%s}[%s]))'
    % [by, of, window, by, of, window];
  local pathName = '{{instance}} {{device}} -> {{target}}';

  // Classic buckets, or the native histogram where Prometheus stores that.
  local quantile(q, metric, by, of='%(port)s') =
    |||
      histogram_quantile(%g, sum by (%s, le) (rate(%s_bucket{%s}[$__rate_interval])))
      or histogram_quantile(%g, sum by (%s) (rate(%s{%s}[$__rate_interval])))
    ||| % [q, by, metric, of, q, by, metric, of];

  // The 20 lines that are highest over the whole time range: 500 hosts have thousands.
  local highest(expression) =
    std.strReplace(expression, 'WINDOW', '$__rate_interval')
    + ' and topk(20, %s)' % std.strReplace(expression, 'WINDOW]', '$__range] @ end()');

  local ratioSteps = g.alert('RdmaProbeLoss') + g.alert('RdmaProbeFailing');

  local alive = g.row('Alive', [
    g.stat('Paths up', 6) + g.unit('none')
    + g.empty('The probe is off')
    + g.text('Paths (device to target) whose last probe succeeded.', 'Compare with the number of targets that you configured.')
    + g.instant('sum(rdma_probe_up{%s})' % target),

    g.stat('Paths down', 6) + g.unit('none')
    + g.empty('Prometheus did not answer')
    + g.text('Paths whose last probe failed.', 'The matrix below shows whether one host or one target is to blame.')
    + g.instant('count(rdma_probe_up{%s} == 0) or vector(0)' % target) + g.step(1, g.color.critical) + g.seeAlert('RdmaProbeFailing'),

    g.stat('Probes failed', 6) + g.unit('percentunit')
    + g.empty('The probe is off')
    + g.text(|||
               Share of probes that failed in the time range, over all paths. Attempts continue
               while a peer is down, so the share does not drop by itself.
             |||,
             'Above 1 %, jobs notice it. Check which stage fails.')
    + g.instant('sum(rate(rdma_probe_failures_total{%s}[$__range])) / sum(rate(rdma_probe_attempts_total{%s}[$__range]))' % [target, target])
    + ratioSteps,

    g.stat('Slowest path now', 6) + g.unit('s')
    + g.empty('The probe is off')
    + g.text('The longest path: the highest of the minimum round trips of the last five minutes.', 'If it exceeds what distance explains, suspect a queue that never drains, or a detour.')
    + g.instant('max(rdma_probe_min_rtt_seconds{%s})' % target) + g.seeAlert('RdmaProbeLatencyHigh'),
  ]);

  local doing = g.row('Doing', [
    g.heatmap('Round trips') + { axisUnit: 's' } + g.unit('short')
    + g.empty('The probe is off, or Prometheus stores native histograms only')
    + g.text('How many probes (colour) took how long (height), over all paths.',
             'A second band above the usual one means retransmissions (milliseconds), or that some paths have a queue.')
    + g.query('sum by (le) (increase(rdma_probe_rtt_seconds_bucket{%(port)s}[$__rate_interval]))', '{{le}}', format='heatmap'),

    g.timeseries('Round trip, percentiles') + g.unit('s') + g.logarithmic
    + g.empty('The probe is off, or no probe succeeds')
    + g.text(|||
               Median, 99th and 99.9th percentile by operation. write: the network and both cards.
               echo: both processes, too.
             |||,
             |||
               If echo rises and write does not, the hosts are busy. If both rise, it is the
               network: check pause and ECN marks.
             |||)
    + g.query(quantile(0.5, 'rdma_probe_rtt_seconds', 'op'), '{{op}} p50')
    + g.query(quantile(0.99, 'rdma_probe_rtt_seconds', 'op'), '{{op}} p99')
    + g.query(quantile(0.999, 'rdma_probe_rtt_seconds', 'op'), '{{op}} p99.9') + g.seeAlert('RdmaProbeLatencyHigh'),
  ]);

  // First a few cells, then the worst of each kind, then the matrix of what they were narrowed to: 500 hosts that probe
  // four targets each from eight devices have 16,000 pairs.
  local leaf = if config.dashboards.leaf == '' then 'op' else config.dashboards.leaf;
  local worst(title, by, column, heading, more, what, todo) =
    g.table(title, 8, 9) + g.unit('percentunit') + g.text(what, todo)
    + g.rows('topk(20, (%s) > 0)' % failed('job, ' + by, '$__range'))
    + g.columns([[column, heading]] + more + [['Value', 'Failed']])
    + g.sortBy('Failed') + g.narrowed(heading, 'rdma-probe', column)
    + g.override('byName', 'Failed', g.colored) + ratioSteps
    + g.empty('None, or the probe is off');
  local matrix(title, unit, expression, row, column) =
    g.table(title, 12, 9) + g.unit(unit) + g.rows(expression) + g.matrix(row, column, 'Value');
  // Cells of the 20 hosts and of the 20 targets that are highest. Targets that rotate have no name.
  local named = target + ',target!=""';
  local crossing(cells, hosts, targets) =
    '(%s) and on (job, instance) topk(20, %s) and on (job, target) topk(20, %s)' % [cells, hosts, targets];
  local shortest = 'min by (job, instance, target) (rdma_probe_min_rtt_seconds{%s})' % named;

  local wrong = g.row('Wrong', [
    matrix('Failures, by rail', 'percentunit', failed(leaf + ', device', '$__range'), leaf, 'device')
    + g.text(|||
               Share of probes that failed in the time range, by the prober's device (its rail) and
               %s. A red column points to that rail; red for echo alone points to the hosts, not the
               network.
             ||| % (if leaf == 'op' then 'by operation' else 'by its ' + leaf),
             'Click a cell to narrow this page to the rail, then continue with the worst hosts and targets.')
    + g.coloredNumbers(g.absentIsBlank) + g.narrowedToColumn('rdma-probe', 'device') + ratioSteps
    + g.empty('The probe is off'),

    g.timeseries('Failures by stage and reason') + g.unit('ops')
    + g.empty('None, or the probe is off')
    + g.text('Where probes fail: gid, local (this host), modify (the neighbour), op (the verb itself), echo (the far process).',
             'op retry_exc_err: the path drops packets. echo deadline: the path works, but the far host hangs.')
    + g.query('sum by (stage, reason) (rate(rdma_probe_failures_total{%s}[$__rate_interval])) > 0' % target, '{{stage}} {{reason}}'),

    g.timeseries('Not sent, by stage and reason') + g.unit('ops')
    + g.empty('None, or the probe is off')
    + g.text(|||
               Probes that could not be sent without a control connection (TCP, TLS), and
               interruptions of that connection. They reveal nothing about the RDMA path.
             |||,
             'tcp: the peer or its TCP network is down. tls: check keys or certificates. exchange: the peer refused.')
    + g.query('sum by (stage, reason) (rate(rdma_probe_control_failures_total{%s}[$__rate_interval])) > 0' % target, '{{stage}} {{reason}}')
    + g.seeAlert('RdmaProbeControlFailing'),

    g.timeseries('Retransmissions suspected') + g.unit('ops')
    + g.empty('None, or the probe is off')
    + g.text(|||
               Probes that took so long that a packet must have been lost and retransmitted, which
               an RC connection otherwise hides. The 20 paths with the most.
             |||,
             'Compare with ACK timeouts and NAKs of the same port.')
    + g.query(highest('sum by (job, instance, device, target) (rate(rdma_probe_retransmit_suspected_total{%s}[WINDOW])) > 0' % target), pathName),

    worst('Worst hosts that probe',
          'instance, device',
          'instance',
          'Host',
          [['device', 'Device']],
          'Probers with the highest share of failed probes in the time range, over all of their targets.',
          'One host alone: suspect its adapter, cable or switch port. Click it to see only its targets.'),
    worst('Worst targets',
          'target',
          'target',
          'Target',
          [],
          'Targets with the highest share of failed probes in the time range, from all hosts.',
          |||
            One target alone: suspect that host. Click it to see who fails to reach it. Rotating
            targets have no name.
          |||),
    worst('Worst paths',
          'instance, device, target',
          'instance',
          'Host',
          [['device', 'Device'], ['target', 'Target']],
          'Paths (device to target) with the highest share of failed probes in the time range.',
          'Only paths between two racks: suspect the switches between them.'),
  ]);

  local pairs = g.folded('Wrong: from host to target', [
    matrix('Failures, from host to target',
           'percentunit',
           crossing(failed('job, instance, target', '$__range', named),
                    failed('job, instance', '$__range', named),
                    failed('job, target', '$__range', named)),
           'instance',
           'target')
    + g.text(|||
               Share of probes that failed in the time range, from the 20 worst hosts to the 20
               worst targets. A cell is empty if the host does not probe the target. A red row
               points to the host, a red column to the target, a single cell to the path.
             |||,
             |||
               For a row or column, open that host in RDMA / Host. For a single cell, check the
               switches between the two.
             |||)
    + g.coloredNumbers(g.absentIsBlank) + ratioSteps
    + g.empty('The probe is off'),

    matrix('Shortest round trip, from host to target',
           's',
           crossing(shortest, 'max by (job, instance) (%s)' % shortest, 'max by (job, target) (%s)' % shortest),
           'instance',
           'target')
    + g.text(|||
               The minimum round trip of the last five minutes, which is the length of the path
               without queues, for the 20 hosts and 20 targets with the highest.
             |||,
             'If one has become longer, the path has changed: routing, or a lost link.')
    + g.empty('The probe is off'),
  ]);

  local why = g.folded('Why: network or host', [
    g.timeseries('Time in the hosts') + g.unit('s')
    + g.empty('The probe is off, or sends no echoes')
    + g.text(|||
               both: by how much an echo exceeds a write (difference of the medians, the 20 highest
               probers), caused by interrupts, scheduling and processes of both hosts. far
               processes: how long they hold an echo, by their own clocks (p99 of all), without the
               time that they waited for a processor.
             |||,
             |||
               both is high: a CPU is busy or in a deep sleep state. far processes is high: the
               daemons are slow. The network is not to blame.
             |||)
    + g.query(highest(std.strReplace('(%s) - (%s)' % [
      quantile(0.5, 'rdma_probe_rtt_seconds', 'job, instance', '%(port)s,op="echo"'),
      quantile(0.5, 'rdma_probe_rtt_seconds', 'job, instance', '%(port)s,op!="echo"'),
    ], '$__rate_interval', 'WINDOW')), '{{instance}} both')
    + g.query(quantile(0.99, 'rdma_probe_responder_delay_seconds', 'job'), '{{job}} far processes'),

    g.timeseries('Connections made') + g.unit('ops')
    + g.empty('The probe is off')
    + g.text('New connections of the probe, for the 20 devices with the most. The probe reconnects after every error.',
             'A steady rate means that paths or peers fail repeatedly.')
    + g.query(highest('sum by (job, instance, device) (rate(rdma_probe_connects_total{%(device)s}[WINDOW]))'), '{{instance}} {{device}}'),

    g.timeseries('Queue pairs of the probe') + g.unit('short')
    + g.empty('The probe is off')
    + g.text('Queue pairs that the probe holds as prober and as responder, for the 20 devices with the most.',
             'At the limit, further targets are dropped: raise probe.max_qps, or probe fewer targets.')
    + g.query(highest('sum by (job, instance, device, role) (max_over_time(rdma_probe_qps{%(device)s}[WINDOW]))'),
              '{{instance}} {{device}} {{role}}'),
  ]);

  g.dashboard('rdma-probe', 'Probe mesh', 'What RC verbs see between hosts: latency, failures, and which end is to blame.', [alive, doing, wrong, pairs, why], [
    g.variable('target', 'Target', 'rdma_probe_up', '%(port)s'),
  ])
