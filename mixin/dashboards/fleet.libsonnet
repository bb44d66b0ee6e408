// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Fleet: is everything up, who disturbs whom, and which host is not like the others.
function(config)
  local g = (import 'lib.libsonnet')(config);
  local alerts = config.alerts;

  local state = { '0': { text: 'down', color: 'red' }, '1': { text: 'up', color: 'green' } };
  local perHost(direction, window) =
    'max by (job, instance) (rate(rdma_pfc_pause_seconds_total{%%(port)s,direction="%s"}[%s]))' % [direction, window];
  local ratio(name, of, window, threshold) =
    'rate(%s[%s]) / ignoring(direction) (rate(%s[%s]) > %g)' % [name, window, of, window, threshold];

  // A table of the worst, over the whole time range.
  local worst(title, column, unit, expression) =
    g.table(title, 8, 8)
    + g.rows('topk(10, %s)' % expression)
    + g.columns([['instance', 'Host'], ['device', 'Where'], ['Value', column]])
    + g.sortBy(column)
    + g.toHost('Host')
    + g.toPort('Where')
    + g.unit(unit, if unit == 'none' then 0 else null)
    + g.override('byName', column, g.colored);

  // Not the share of the whole range: in it a storm of minutes is lost.
  local pausing(title, direction) =
    local share(window) =
      'max by (job, instance, device, netdev) (rate(rdma_pfc_pause_seconds_total{%%(port)s,direction="%s"}[%s]))'
      % [direction, window];
    local worstMinutes = 'topk(10, max_over_time((%s)[$__range:1m]))' % share('5m');
    g.table(title, 8, 8)
    + g.rows(worstMinutes)
    + g.rows('%s and %s' % [share('$__rate_interval'), worstMinutes])
    + g.merge
    + g.columns([['instance', 'Host'], ['device', 'Where'], ['netdev', 'Interface'], ['Value #A', 'Worst 5m'], ['Value #B', 'Now']])
    + g.sortBy('Worst 5m')
    + g.toHost('Host')
    + g.toPort('Where')
    + g.unit('percentunit')
    + g.empty('None: there is no pause, or no driver counts pause time')
    + g.override('byRegexp', '/^(Worst 5m|Now)$/', g.colored);

  local alive = g.row('Alive', [
    g.stat('Hosts answering') + g.unit('none') + g.empty('No exporter found')
    + g.text('Exporters that answered the last scrape.', 'Compare with the number of hosts you expect.')
    + g.instant('sum(%s)' % g.target('up{%(host)s}')),

    g.stat('Hosts not answering') + g.unit('none') + g.empty('Prometheus did not answer')
    + g.text('Exporters that did not answer the last scrape. Their values on this page are old or missing.',
             'Open RDMA / Exporter and check whether the host is down, or only the exporter.')
    + g.instant('count(%s) or vector(0)' % g.target('up{%(host)s} == 0')) + g.step(1, 'orange') + g.seeAlert('RdmaExportersDown') + g.seeAlert('RdmaExporterDown'),

    g.stat('Ports active') + g.unit('none') + g.empty('No port found')
    + g.text('Ports in state ACTIVE, the only state that carries RDMA traffic.', 'Compare with the number of cables.')
    + g.instant('sum(rdma_port_up{%(port)s})'),

    g.stat('Ports lost') + g.unit('none') + g.empty('Prometheus did not answer')
    + g.text('Ports that are not ACTIVE but were in the time range. Ports without a cable are not counted.',
             'Check the cable, the module and the switch port; the timeline below shows since when.')
    + g.instant('count((rdma_port_up{%(port)s} == 0) and (max_over_time(rdma_port_up{%(port)s}[$__range]) == 1)) or vector(0)')
    + g.step(1, 'red') + g.seeAlert('RdmaPortsDown') + g.seeAlert('RdmaPortDown') + g.seeAlert('RdmaDeviceLost'),

    g.stat('Hosts pausing the fabric') + g.unit('none') + g.empty('Prometheus did not answer')
    + g.text(|||
               Hosts that pause their link partner for more of the time than the alert allows. One
               such host can slow down a whole fabric.
             |||,
             |||
               Open the host and check PCIe, receive buffers and stopped processes. If the cause is
               not obvious, take the host out of service.
             |||)
    + g.instant('count(%s > %g) or vector(0)' % [perHost('tx', '$__rate_interval'), g.threshold('RdmaPfcStormTransmitted')])
    + g.step(1, 'red') + g.seeAlert('RdmaPfcStorm') + g.seeAlert('RdmaPfcStormTransmitted'),

    g.stat('Alerts firing') + g.unit('none') + g.empty('Prometheus did not answer')
    + g.text('Firing alerts of these hosts.', 'Each alert has a runbook: follow the link in the notification.')
    + g.instant('count(ALERTS{alertname=~"Rdma.*",alertstate="firing",%(host)s}) or vector(0)') + g.step(1, 'red'),

    g.stateTimeline('Ports that were down', 24, 7) + g.unit('none')
    + g.text('Ports that were not ACTIVE at some time in the range. Empty is good.',
             'Many ports at the same time: suspect a switch. One port repeatedly: suspect its cable or module.')
    + g.query('rdma_port_up{%(port)s} and on (job, instance, device, port) (min_over_time(rdma_port_up{%(port)s}[$__range] @ end()) == 0)',
              '{{instance}} {{device}}/{{port}}')
    + g.mappings(state) + g.empty('All ports were up')
    + { fieldConfig+: { defaults+: { thresholds: { mode: 'absolute', steps: [{ color: 'red', value: null }, { color: 'green', value: 1 }] } } } }
    + g.seeAlert('RdmaPortDown') + g.seeAlert('RdmaLinkFlapping'),
  ]);

  local doing = g.row('Doing', [
    g.timeseries('Traffic of all hosts') + g.unit('Bps') + g.notCounted('traffic counters')
    + g.text(|||
               RDMA bytes sent (above) and received (below) by all selected hosts together. The help
               text of rdma_port_data_bytes_total explains what each driver counts.
             |||,
             'If the jobs do not explain a dip, check the rows below.')
    + g.query('sum by (direction) (rate(rdma_port_data_bytes_total{%(port)s}[$__rate_interval]))', 'all {{direction}}')
    + g.receivedBelowZero,

    g.heatmap('Hosts by share of time paused') + { axisUnit: 'percentunit' } + g.unit('short')
    + g.notCounted('a driver that counts pause time')
    + g.text('How many hosts (colour) were paused for which share of the time (height). All at the bottom is good.',
             |||
               If a few are high, find them in the table below. If many are high at the same time,
               there is congestion or one bad host: check who pauses the fabric.
             |||)
    + g.query(perHost('rx', '$__rate_interval'), '{{instance}}')
    + { options+: { calculate: true, calculation: { yBuckets: { mode: 'count', value: '20' }, xBuckets: { mode: 'size', value: '' } } } }
    + g.seeAlert('RdmaPfcPausedHigh'),
  ]);

  local wrong = g.row('Wrong', [
    g.table('Which alerts fire', 24, 7) + g.unit('none')
    + g.text('Firing alerts and what they affect.', 'Start with the critical ones. Each alert has a runbook.')
    + g.firing
    + g.toHost('Host') + g.toPort('Device', 'Device'),

    pausing('Who pauses the fabric', 'tx')
    + g.text(|||
               Hosts that paused their link partner: share of the time for the worst priority, in
               the worst five minutes and now.
             |||,
             'If other hosts are paused, suspect the first host in this list.')
    + g.alert('RdmaPfcStorm') + g.alert('RdmaPfcStormTransmitted'),

    pausing('Who is paused', 'rx')
    + g.text(|||
               Hosts that were paused, the victims: share of the time for the worst priority, in the
               worst five minutes and now.
             |||,
             'Find the host that pauses the fabric, then check the switch in between.')
    + g.alert('RdmaPfcPausedHigh'),

    worst('Connections lost',
          'Requests given up',
          'none',
          'sum by (job, instance, device, kind) (increase(rdma_port_retries_exceeded_total{%(port)s}[$__range])) > 0')
    + g.text(|||
               Requests given up after the last retry in the time range. Each one leaves a queue
               pair in error, and a job has lost a connection.
             |||,
             'Find out which peers are affected: usually the peer, its port or the path to it is at fault.')
    + g.seeAlert('RdmaConnectionsDying') + g.alert('RdmaRetriesExceeded')
    + g.empty('None, or no driver counts them (mlx5 does since Linux 6.12)'),

    worst('Out of sequence',
          'Share of packets',
          'percentunit',
          '(%s)' % ratio('rdma_port_out_of_sequence_total{%(port)s}',
                         'rdma_port_packets_total{%(port)s,direction="rx"}',
                         '$__range',
                         alerts.RdmaOutOfSequence.floor))
    + g.text(|||
               Packets that arrived ahead of the expected one, as a share of all received packets:
               loss or reordering on the path to the host.
             |||,
             |||
               With NAKs and timeouts at the senders it is loss. Without them it is reordering,
               which is normal with adaptive routing.
             |||)
    + g.alert('RdmaOutOfSequence')
    + g.empty('None: no loss, no reordering, or too few packets'),

    worst('Acknowledgements missed',
          'Timeouts per second',
          'ops',
          'rate(rdma_port_ack_timeouts_total{%(port)s}[$__range])')
    + g.text('How often a host waited for an acknowledgement until the timer expired.',
             'One host: suspect its cable or its peer. Many hosts to one peer: suspect that peer.')
    + g.alert('RdmaAckTimeouts')
    + g.empty('None, or no driver counts them'),

    worst('Uncorrectable blocks (FEC)',
          'Blocks',
          'none',
          'increase(rdma_netdev_fec_blocks_total{%(port)s,result="uncorrectable"}[$__range])')
    + g.text('Blocks that error correction could not repair in the time range: lost data. This should be 0.',
             'Clean or replace the cable and the module, then check the other end.')
    + g.alert('RdmaFecUncorrectable')
    + g.empty('None, or no driver counts them'),
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
               Every device: the share of its model that has the same firmware; speed and MTU as a
               share of the best of its model; PCIe link as a share of what the card supports.
               Orange marks an outlier.
             |||,
             |||
               Make them equal. Different firmware or a different MTU causes different latencies; a
               PCIe link at half its width halves the throughput.
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
    + g.empty('No device found on the selected hosts')
    + g.override('byRegexp', '/^(Speed|MTU|PCIe)$/', outlier(1))
    + g.override('byName', 'Have this firmware', outlier(0.5))
    + g.seeAlert('RdmaFirmwareMismatch') + g.seeAlert('RdmaMtuMismatch') + g.seeAlert('RdmaPcieDegraded')
    + g.seeAlert('RdmaPortSpeedDegraded'),
  ]);

  g.dashboard('rdma-fleet', 'Fleet', 'All hosts: what is down, who pauses whom, which hosts differ.', [alive, doing, wrong, why])
