// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Resources: how many queue pairs, memory regions, ... exist, in which state, whose they are, and how near the limit.
function(config)
  local g = (import 'lib.libsonnet')(config);
  local alerts = config.alerts;

  local deviceName = '{{instance}} {{device}}';
  local used = 'rdma_resource_objects{%(device)s} / rdma_resource_objects_limit{%(device)s}';
  local owners(title, column, unit, metric, text, todo) =
    g.table(title, 12, 8) + g.unit(unit) + g.text(text, todo) + g.empty('Details are off, or nobody has any')
    + g.rows('topk(20, sum by (job, instance, device, owner_kind, owner, container) (%s{%%(device)s}))' % metric)
    + g.columns([
      ['instance', 'Host'],
      ['device', 'Device'],
      ['owner_kind', 'Kind'],
      ['owner', 'Owner'],
      ['container', 'Container'],
      ['Value', column],
    ])
    + g.sortBy(column) + g.toHost('Host') + g.toPort('Device', 'Device');

  local alive = g.row('Alive', [
    g.stat('Queue pairs', 6) + g.unit('short')
    + g.empty('No device gives numbers')
    + g.text('Queue pairs that exist on the chosen devices.', 'Compare with what the running jobs should need.')
    + g.instant('sum(rdma_resource_objects{%(device)s,type="qp"})'),

    g.stat('Queue pairs in error', 6) + g.unit('none')
    + g.empty('Details are off')
    + g.text('Queue pairs in state ERR or SQE: connections that have failed and that nobody has closed.',
             'The owners table names the process or job; it waits for a connection that is gone. Restart it.')
    + g.instant('sum(rdma_resource_qps{%(port)s,state=~"ERR|SQE"}) or vector(0)') + g.alert('RdmaQpErrorState'),

    g.stat('Registered memory', 6) + g.unit('bytes')
    + g.empty('Details are off')
    + g.text('Bytes in memory regions; regions that overlap count twice.', 'It is locked: the kernel cannot take it back.')
    + g.instant('sum(rdma_resource_mr_bytes{%(device)s})'),

    g.stat('Nearest to a limit', 6) + g.unit('percentunit')
    + g.empty('No device says its limits')
    + g.text('The largest share of a limit that any type of object has reached on any device.',
             'See below which type; at 100 % new connections fail.')
    + g.instant('max(%s)' % used) + g.alert('RdmaResourceExhaustion'),
  ]);

  local doing = g.row('Doing', [
    g.timeseries('Queue pairs by state') + g.unit('short')
    + g.empty('Details are off (collector.resource.detail)')
    + g.text('Queue pairs by state. RTS is connected and working.',
             |||
               Many in INIT or RTR for long: connections that hang while they are made. SQD, SQE, ERR: connections
               that have failed.
             |||)
    + g.query('sum by (state) (rdma_resource_qps{%(port)s})', '{{state}}'),

    g.timeseries('Objects by type') + g.unit('short')
    + g.empty('No chosen device gives numbers')
    + g.text('Objects of all chosen devices by type.', 'A line that only rises, also when no job starts, is a leak.')
    + g.query('sum by (type) (rdma_resource_objects{%(device)s})', '{{type}}'),

    g.timeseries('Registered memory, by device') + g.unit('bytes')
    + g.empty('Details are off (collector.resource.detail)')
    + g.text('Bytes in memory regions, of processes (user) and of the kernel.', 'A steady rise is a leak; see who owns it.')
    + g.query('sum by (job, instance, device, space) (rdma_resource_mr_bytes{%(device)s}) > 0', deviceName + ' {{space}}'),

    g.timeseries('Connections of the connection manager') + g.unit('short')
    + g.empty('None, or details are off')
    + g.text('Identifiers of rdma_cm by state; programs that exchange addresses by themselves (NCCL) have none.',
             'Many in a state of resolving: name, ARP or route to the peer.')
    + g.query('sum by (state) (rdma_resource_cm_ids{%(device)s})', '{{state}}'),
  ]);

  local horizon = 86400;  // seconds
  local wrong = g.row('Wrong', [
    g.bargauge('Share of the limit', 12, 9) + g.unit('percentunit') + g.range(0, 1)
    + g.empty('No chosen device says its limits')
    + g.text('Objects as a share of what the device can have, the fullest ten.',
             'Find the owner below. Some limits can be raised by a firmware or driver setting.')
    + g.instant('topk(10, %s)' % used, '{{type}} {{device}} {{instance}}') + g.alert('RdmaResourceExhaustion'),

    g.timeseries('Share of the limit, at this pace', 12, 9) + g.unit('percentunit')
    + g.empty('No chosen device says its limits, or the range is too short')
    + g.text('Where the fullest device of each type would stand in %d hours if it goes on as in the time range. Above 100 %% it will have run out.'
             % (horizon / 3600),
             |||
               Choose a time range of some hours. Look for the owner whose number only rises; restart it before new
               connections fail.
             |||)
    + g.query('max by (type) (predict_linear(rdma_resource_objects{%%(device)s}[$__range], %d) / rdma_resource_objects_limit{%%(device)s})'
              % horizon, '{{type}}')
    + g.step(1, g.color.warning),

    g.timeseries('Queue pairs in error, by device', 24, 7) + g.unit('none')
    + g.empty('None, or details are off')
    + g.text('Queue pairs in ERR or SQE by device.', |||
      Rises together with lost connections: look at the port. Stays afterwards: an application that does
      not clean up.
    |||)
    + g.query('sum by (job, instance, device) (rdma_resource_qps{%(port)s,state=~"ERR|SQE"})', deviceName)
    + g.alert('RdmaQpErrorState'),
  ]);

  local why = g.folded('Why: who owns it', [
    owners('Queue pairs by owner',
           'Queue pairs',
           'none',
           'rdma_resource_owner_qps',
           'Who has most queue pairs: pod (by UID), job, unit, process or kernel module.',
           'Thousands for one process: it opens a connection per thread and peer; use fewer or shared ones.'),
    owners('Registered memory by owner',
           'Memory',
           'bytes',
           'rdma_resource_owner_mr_bytes',
           'Who has registered most memory.',
           'Compare with the limit of locked memory of that owner.'),

    g.table('Owners not known', 12, 6) + g.unit('none')
    + g.empty('None: all owners are known, or details are off')
    + g.text('Objects whose owner could not be found, and why. no_pid: the owner is dead or in another PID namespace.',
             'In a container give the exporter the PID namespace of the host.')
    + g.rows('topk(20, sum by (job, instance, device, reason) (rdma_resource_objects_unattributed{%(device)s}))')
    + g.columns([['instance', 'Host'], ['device', 'Device'], ['reason', 'Reason'], ['Value', 'Objects']])
    + g.toHost('Host'),

    g.timeseries('Age and time of the dumps', 12, 6) + g.unit('s')
    + g.empty('Details are off (collector.resource.detail)')
    + g.text('How old the tables on this page are, and how long reading them takes.',
             |||
               Older than a few minutes: the dump fails or hits a limit; see rdma_resource_dump_errors_total and
               rdma_resource_dump_truncated.
             |||)
    + g.query('max by (job, instance) (rdma_resource_detail_age_seconds{%(device)s})', '{{instance}} age')
    + g.query('max by (job, instance) (rdma_resource_dump_duration_seconds{%(device)s})', '{{instance}} duration'),
  ]);

  g.dashboard('rdma-resources',
              'Resources',
              'Queue pairs, memory regions and other objects: number, limit, state, owner.',
              [alive, doing, wrong, why])
