// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Fleet: is everything up, who disturbs whom, and which host is not like the others.
function(config)
  local g = (import 'lib.libsonnet')(config);
  local alerts = config.alerts;

  local state = { '0': { text: 'down', color: 'red' }, '1': { text: 'up', color: 'green' } };
  local perHost(direction, window) =
    'max by (job, instance) (%s)' % g.netdev(
      'rate(rdma_pfc_pause_seconds_total{%%(host)s,direction="%s"}[%s])' % [direction, window]
    );
  local ratio(name, of, window, threshold) =
    'rate(%s[%s]) / ignoring(direction) (rate(%s[%s]) > %g)' % [name, window, of, window, threshold];

  // A table of the worst, over the whole time range.
  local worst(title, column, field, unit, expression) =
    g.table(title, 8, 8)
    + g.rows('topk(10, %s)' % expression)
    + g.columns([['instance', 'Host'], [field, 'Where'], ['Value', column]])
    + g.sortBy(column)
    + g.toHost('Host')
    + (if field == 'device' then g.toPort('Where') else {})
    + g.unit(unit, if unit == 'none' then 0 else null)
    + g.override('byName', column, g.colored);

  // Not the share of the whole range: in it a storm of minutes is lost.
  local pausing(title, direction) =
    local share(window) =
      'max by (job, instance, netdev) (%s)'
      % g.netdev('rate(rdma_pfc_pause_seconds_total{%%(host)s,direction="%s"}[%s])' % [direction, window]);
    local worstMinutes = 'topk(10, max_over_time((%s)[$__range:1m]))' % share('5m');
    g.table(title, 8, 8)
    + g.rows(worstMinutes)
    + g.rows('%s and on (job, instance, netdev) %s' % [share('$__rate_interval'), worstMinutes])
    + g.merge
    + g.columns([['instance', 'Host'], ['netdev', 'Where'], ['Value #A', 'Worst 5 min'], ['Value #B', 'Now']])
    + g.sortBy('Worst 5 min')
    + g.toHost('Host')
    + g.unit('percentunit')
    + g.empty('None: nobody pauses, or no driver counts the time')
    + g.override('byRegexp', '/^(Worst 5 min|Now)$/', g.colored);

  local alive = g.row('Alive', [
    g.stat('Hosts answering') + g.unit('none') + g.empty('No exporter is known')
    + g.text('Exporters that Prometheus reached at its last scrape.', 'Compare with the number of hosts you expect.')
    + g.instant('sum(%s)' % g.target('up{%(host)s}')),

    g.stat('Hosts not answering') + g.unit('none') + g.empty('No answer of Prometheus')
    + g.text('Exporters that Prometheus could not scrape. Their values on this page are old or missing.',
             'Open the dashboard RDMA / Exporter; see whether the host or only the exporter is down.')
    + g.instant('count(%s) or vector(0)' % g.target('up{%(host)s} == 0')) + g.step(1, 'orange') + g.seeAlert('RdmaExportersDown') + g.seeAlert('RdmaExporterDown'),

    g.stat('Ports active') + g.unit('none') + g.empty('No port is known')
    + g.text('Ports in state ACTIVE, the only one that carries RDMA traffic.', 'Compare with the number of cables.')
    + g.instant('sum(rdma_port_up{%(port)s})'),

    g.stat('Ports lost') + g.unit('none') + g.empty('No answer of Prometheus')
    + g.text('Ports that are not ACTIVE and were within the time range. A port without a cable does not count.',
             'Look at the cable, the module and the switch port; the timeline below says since when.')
    + g.instant('count((rdma_port_up{%(port)s} == 0) and (max_over_time(rdma_port_up{%(port)s}[$__range]) == 1)) or vector(0)')
    + g.step(1, 'red') + g.seeAlert('RdmaPortsDown') + g.seeAlert('RdmaPortDown') + g.seeAlert('RdmaDeviceLost'),

    g.stat('Hosts pausing the fabric') + g.unit('none') + g.empty('No answer of Prometheus')
    + g.text(|||
               Hosts that keep their link partner paused for longer than the alert allows. One such host can slow
               down a whole fabric.
             |||,
             'Open the host; look at PCIe, receive buffers and a stopped process. If it is not obvious, take the host out.')
    + g.instant('count(%s > %g) or vector(0)' % [perHost('tx', '$__rate_interval'), g.threshold('RdmaPfcStormTransmitted')])
    + g.step(1, 'red') + g.seeAlert('RdmaPfcStorm') + g.seeAlert('RdmaPfcStormTransmitted'),

    g.stat('Alerts firing') + g.unit('none') + g.empty('No answer of Prometheus')
    + g.text('Alerts of these hosts that fire now.', 'Each has a runbook: follow the link in the notification.')
    + g.instant('count(ALERTS{alertname=~"Rdma.*",alertstate="firing",%(host)s}) or vector(0)') + g.step(1, 'red'),

    g.stateTimeline('Ports that were down', 24, 7) + g.unit('none')
    + g.text('Ports that were not ACTIVE at some time of the range. Empty is good.',
             'Many ports at the same moment: a switch. One port again and again: cable or module.')
    + g.query('rdma_port_up{%(port)s} and on (job, instance, device, port) (min_over_time(rdma_port_up{%(port)s}[$__range] @ end()) == 0)',
              '{{instance}} {{device}}/{{port}}')
    + g.mappings(state) + g.empty('All ports were up')
    + { fieldConfig+: { defaults+: { thresholds: { mode: 'absolute', steps: [{ color: 'red', value: null }, { color: 'green', value: 1 }] } } } }
    + g.seeAlert('RdmaPortDown') + g.seeAlert('RdmaLinkFlapping'),
  ]);

  local doing = g.row('Doing', [
    g.timeseries('Traffic of all hosts') + g.unit('Bps') + g.notCounted('counters of its traffic')
    + g.text(|||
               RDMA bytes sent (above) and received (below) by all chosen hosts together. See
               rdma_port_data_bytes_total for what each driver counts.
             |||,
             'A dip without a reason in the jobs: look at the rows below.')
    + g.query('sum by (direction) (rate(rdma_port_data_bytes_total{%(port)s}[$__rate_interval]))', 'all {{direction}}')
    + g.receivedBelowZero,

    g.heatmap('Hosts by share of time paused') + { axisUnit: 'percentunit' } + g.unit('short')
    + g.notCounted('a driver that counts the time of pause')
    + g.text('How many hosts (colour) were told to stop for which share of the time (height). All at the bottom is good.',
             |||
               A few high: look at them in the table below. Many high at the same time: congestion or one bad host;
               look who pauses the fabric.
             |||)
    + g.query(perHost('rx', '$__rate_interval'), '{{instance}}')
    + { options+: { calculate: true, calculation: { yBuckets: { mode: 'count', value: '20' }, xBuckets: { mode: 'size', value: '' } } } }
    + g.seeAlert('RdmaPfcPausedHigh'),
  ]);

  local wrong = g.row('Wrong', [
    g.table('Which alerts fire', 24, 7) + g.unit('none')
    + g.text('Alerts that fire now, with what they are about.', 'Start with the critical ones; each has a runbook.')
    + g.firing
    + g.toHost('Host') + g.toPort('Device', 'Device'),

    pausing('Who pauses the fabric', 'tx')
    + g.text('Hosts that kept their link partner paused (the worst priority): in their worst five minutes, and now.',
             'The first of this list is the suspect when others are paused.')
    + g.alert('RdmaPfcStorm') + g.alert('RdmaPfcStormTransmitted'),

    pausing('Who is paused', 'rx')
    + g.text('Hosts that were told to stop (the worst priority): in their worst five minutes, and now. These are the victims.',
             'Look for the host that pauses the fabric, then at the switch between.')
    + g.alert('RdmaPfcPausedHigh'),

    worst('Connections lost',
          'Requests given up',
          'device',
          'none',
          'sum by (job, instance, device, kind) (increase(rdma_port_retries_exceeded_total{%(port)s}[$__range])) > 0')
    + g.text(|||
               Requests given up after the last retry in the time range; each one is a queue pair in error and a
               job that lost a connection.
             |||,
             'Find out to which peers: mostly it is the peer, its port or the path to it.')
    + g.seeAlert('RdmaConnectionsDying') + g.alert('RdmaRetriesExceeded')
    + g.empty('None given up, or no driver counts it (mlx5 does since Linux 6.12)'),

    worst('Out of sequence',
          'Share of packets',
          'device',
          'percentunit',
          '(%s)' % ratio('rdma_port_out_of_sequence_total{%(port)s}',
                         'rdma_port_packets_total{%(port)s,direction="rx"}',
                         '$__range',
                         alerts.RdmaOutOfSequence.floor))
    + g.text(|||
               Packets that came ahead of the expected number, as a share of packets received: loss or reordering
               on the way to the host.
             |||,
             |||
               With NAKs and timeouts at the senders it is loss. Without them it is reordering, which adaptive
               routing does on purpose.
             |||)
    + g.alert('RdmaOutOfSequence')
    + g.empty('None: no loss, no reordering, or too few packets'),

    worst('Acknowledgements missed',
          'Timeouts per second',
          'device',
          'ops',
          'rate(rdma_port_ack_timeouts_total{%(port)s}[$__range])')
    + g.text('How often a host waited for an acknowledgement until the timer ended.',
             'One host: its cable or its peer. Many hosts to one peer: that peer.')
    + g.alert('RdmaAckTimeouts')
    + g.empty('None, or no driver counts it'),

    worst('Uncorrectable blocks (FEC)',
          'Blocks',
          'netdev',
          'none',
          g.netdev('increase(rdma_netdev_fec_blocks_total{%(host)s,result="uncorrectable"}[$__range])'))
    + g.text('Blocks that error correction could not repair in the time range: lost data. It has to be 0.',
             'Clean or replace cable and module; then look at the other end.')
    + g.alert('RdmaFecUncorrectable')
    + g.empty('None, or no driver counts it'),
  ]);

  // Devices of one model, by the identifiers of their PCI function, are expected to be equal.
  local model(selector) = 'max by (job, instance, device, vendor_id, device_id) (rdma_device_info{%%(%s)s})' % selector;
  local firmware(selector) =
    'max by (job, instance, device, vendor_id, device_id, fw_version) (rdma_device_info{%%(%s)s})' % selector;
  local ofModel(metric, selector, models) =
    'max by (job, instance, device) (%s{%%(%s)s}) * on (job, instance, device) group_left (vendor_id, device_id) %s'
    % [metric, selector, model(models)];
  local shareOfBest(metric) =
    '%s / on (job, vendor_id, device_id) group_left () max by (job, vendor_id, device_id) (%s)'
    % [ofModel(metric, 'port', 'device'), ofModel(metric, 'host', 'host')];
  local pcie(kind) =
    'rdma_device_pcie_%swidth_lanes{%%(device)s} * rdma_device_pcie_%sspeed_transfers_per_second{%%(device)s}' % [kind, kind];

  local columns = [
    ['instance', 'Host'],
    ['device', 'Device'],
    ['hca_type', 'Model'],
    ['driver', 'Driver'],
    ['fw_version', 'Firmware'],
    ['Value #B', 'Have this firmware'],
    ['Value #C', 'Speed'],
    ['Value #D', 'MTU'],
    ['Value #E', 'PCIe'],
  ];
  local outlier(below) = g.colored + g.absentIsBlank {
    thresholds: { mode: 'absolute', steps: [{ color: 'orange', value: null }, { color: 'green', value: below }] },
  };

  local why = g.folded('Why: who is not like the others', [
    g.table('Inventory', 24, 10) + g.unit('percentunit')
    + g.text(|||
               Every device. How many devices of its model have its firmware; its speed and MTU as a share of the
               best of its model; its PCIe link as a share of what the card can do. Orange is an outlier.
             |||,
             |||
               Make them equal. An odd firmware or MTU gives odd latencies, a PCIe link at half its width half the
               throughput.
             |||)
    + g.rows('max by (job, instance, device, hca_type, driver, fw_version) (rdma_device_info{%(device)s})')
    + g.rows(|||
      max by (job, instance, device) (
        %s
        * on (job, vendor_id, device_id, fw_version) group_left () (
          count by (job, vendor_id, device_id, fw_version) (%s)
          / on (job, vendor_id, device_id) group_left () count by (job, vendor_id, device_id) (%s)
        )
      )
    ||| % [firmware('device'), firmware('host'), model('host')])
    + g.rows('max by (job, instance, device) (%s)' % shareOfBest('rdma_port_rate_bytes_per_second'))
    + g.rows('max by (job, instance, device) (%s)' % shareOfBest('rdma_port_active_mtu_bytes'))
    + g.rows('max by (job, instance, device) (%s / (%s))' % [pcie(''), pcie('max_')])
    + g.merge
    + g.columns(columns)
    + g.toHost('Host') + g.toPort('Device', 'Device')
    + g.empty('No device is known of the chosen hosts')
    + g.override('byRegexp', '/^(Speed|MTU|PCIe)$/', outlier(1))
    + g.override('byName', 'Have this firmware', outlier(0.5))
    + g.seeAlert('RdmaFirmwareMismatch') + g.seeAlert('RdmaMtuMismatch') + g.seeAlert('RdmaPcieDegraded')
    + g.seeAlert('RdmaPortSpeedDegraded'),
  ]);

  g.dashboard('rdma-fleet', 'Fleet', 'All hosts: what is down, who pauses whom, who is different.', [alive, doing, wrong, why])
