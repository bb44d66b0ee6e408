// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Resources: how many queue pairs, memory regions, ... exist, in which state, whose they are, and how near the limit.
function(config)
  local g = (import 'lib.libsonnet')(config);
  local alerts = config.alerts;

  // Why panels stay empty that need the tables of objects.
  local reason = 'not enabled, or this kernel is not known to be safe (Ubuntu, RHEL, SUSE, out-of-tree ib_core).'
                 + ' See --collector.resource.detail in docs/RESOURCES.md';
  local off = 'Details are off: ' + reason;
  local noneOrOff = 'None, or details are off: ' + reason;
  local deviceName = '{{instance}} {{device}}';
  local used = 'rdma_resource_objects{%(device)s} / rdma_resource_objects_limit{%(device)s}';
  local owners(title, column, unit, metric, text, todo) =
    g.table(title, 12, 8) + g.unit(unit) + g.text(text, todo) + g.empty(noneOrOff)
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
    + g.empty('No device reports objects')
    + g.text('Queue pairs on the selected devices.', 'Compare with what the running jobs should need.')
    + g.instant('sum(rdma_resource_objects{%(device)s,type="qp"})'),

    g.stat('Queue pairs in error', 6) + g.unit('none')
    + g.empty(off)
    + g.text('Queue pairs in state ERR or SQE: connections that have failed and that nobody has closed.',
             'The owners table names the process or job, which waits for a dead connection. Restart it.')
    + g.instant('sum(rdma_resource_qps{%(port)s,state=~"ERR|SQE"}) or vector(0)') + g.alert('RdmaQpErrorState'),

    g.stat('Registered memory', 6) + g.unit('bytes')
    + g.empty(off)
    + g.text('Bytes in memory regions; overlapping regions count twice.', 'This memory is locked, so the kernel cannot reclaim it: compare with the memory of the hosts.')
    + g.instant('sum(rdma_resource_mr_bytes{%(device)s})'),

    g.stat('Nearest to a limit', 6) + g.unit('percentunit')
    + g.empty('No device reports its limits')
    + g.text('The largest share of a limit that any type of object has reached on any device.',
             'Find the type below. At 100 %, new connections fail.')
    + g.instant('max(%s)' % used) + g.alert('RdmaResourceExhaustion'),
  ]);

  local doing = g.row('Doing', [
    g.timeseries('Queue pairs by state') + g.unit('short')
    + g.empty(off)
    + g.text('Queue pairs by state. RTS is connected and working.',
             |||
               Many in INIT or RTR for a long time: connections hang during setup. SQE, ERR:
               connections have failed.
             |||)
    + g.query('sum by (state) (rdma_resource_qps{%(port)s})', '{{state}}'),

    g.timeseries('Objects by type') + g.unit('short')
    + g.empty('No selected device reports objects')
    + g.text('Objects on all selected devices, by type.', 'A line that keeps rising although no job starts is a leak.')
    + g.query('sum by (type) (rdma_resource_objects{%(device)s})', '{{type}}'),

    g.timeseries('Registered memory, by device') + g.unit('bytes')
    + g.empty(off)
    + g.text('Bytes in memory regions of processes (user) and of the kernel.', 'A steady rise is a leak: find the owner below.')
    + g.query('sum by (job, instance, device, space) (rdma_resource_mr_bytes{%(device)s}) > 0', deviceName + ' {{space}}'),

    g.timeseries('Connections of the connection manager') + g.unit('short')
    + g.empty(noneOrOff)
    + g.text('Identifiers of rdma_cm by state. Programs that exchange addresses themselves (NCCL) have none.',
             'If many are resolving, check name, ARP and route to the peer.')
    + g.query('sum by (state) (rdma_resource_cm_ids{%(device)s})', '{{state}}'),
  ]);

  local horizon = 86400;  // seconds
  local wrong = g.row('Wrong', [
    g.bargauge('Share of the limit', 12, 9) + g.unit('percentunit') + g.range(0, 1)
    + g.empty('No selected device reports its limits')
    + g.text('Objects as a share of what the device supports: the ten highest.',
             'Find the owner below. A firmware or driver setting can raise some limits.')
    + g.instant('topk(10, %s)' % used, '{{type}} {{device}} {{instance}}') + g.alert('RdmaResourceExhaustion'),

    g.timeseries('Share of the limit, at this pace', 12, 9) + g.unit('percentunit')
    + g.empty('No selected device reports its limits, or the range is too short')
    + g.text(|||
               Expected share in %d hours, for the fullest device of each type, if the trend of the
               time range continues. Above 100 %%, the device will have run out.
             |||
             % (horizon / 3600),
             |||
               Select a time range of several hours. Find the owner whose number keeps rising, and
               restart it before new connections fail.
             |||)
    + g.query('max by (type) (predict_linear(rdma_resource_objects{%%(device)s}[$__range], %d) / rdma_resource_objects_limit{%%(device)s})'
              % horizon, '{{type}}')
    + g.step(1, g.color.warning),

    g.timeseries('Queue pairs in error, by device', 24, 7) + g.unit('none')
    + g.empty(noneOrOff)
    + g.text('Queue pairs in state ERR or SQE, by device.', |||
      If it rises together with lost connections, check the port. If it stays, an
      application does not clean up.
    |||)
    + g.query('sum by (job, instance, device) (rdma_resource_qps{%(port)s,state=~"ERR|SQE"})', deviceName)
    + g.alert('RdmaQpErrorState'),
  ]);

  local why = g.folded('Why: who owns it', [
    owners('Queue pairs by owner',
           'Queue pairs',
           'none',
           'rdma_resource_owner_qps',
           'Owners with the most queue pairs: pod (by UID), job, unit, process or kernel module.',
           'Thousands for one process: it opens a connection per thread and peer. Use fewer or shared ones.'),
    owners('Registered memory by owner',
           'Memory',
           'bytes',
           'rdma_resource_owner_mr_bytes',
           'Owners with the most registered memory.',
           'Compare with the locked memory limit of that owner.'),

    g.table('Owners not known', 12, 6) + g.unit('none')
    + g.empty('All owners are known, or details are off: ' + reason)
    + g.text(|||
               Objects whose owner could not be determined, and why. no_pid: the owner has ended or
               is in another PID namespace.
             |||,
             "In a container, give the exporter the host's PID namespace.")
    + g.rows('topk(20, sum by (job, instance, device, reason) (rdma_resource_objects_unattributed{%(device)s}))')
    + g.columns([['instance', 'Host'], ['device', 'Device'], ['reason', 'Reason'], ['Value', 'Objects']])
    + g.toHost('Host'),
  ]);

  g.dashboard('rdma-resources',
              'Resources',
              'Queue pairs, memory regions and other objects: number, limit, state, owner.',
              [alive, doing, wrong, why])
