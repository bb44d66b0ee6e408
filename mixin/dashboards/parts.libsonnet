// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// What the dashboards of a host and of a port have in common.
function(config)
  local g = (import 'lib.libsonnet')(config);

  local states = {
    '0': { text: 'no change', color: 'blue' },
    '1': { text: 'down', color: 'red' },
    '2': { text: 'init', color: 'orange' },
    '3': { text: 'armed', color: 'orange' },
    '4': { text: 'active', color: 'green' },
    '5': { text: 'active, deferred', color: 'orange' },
  };
  local stateSteps = { fieldConfig+: { defaults+: { thresholds: { mode: 'absolute', steps: [
    { color: 'red', value: null },
    { color: 'orange', value: 2 },
    { color: 'green', value: 4 },
  ] } } } };

  {
    local parts = self,

    portName:: '{{instance}} {{device}}/{{port}}',
    netdevName:: '{{instance}} {{netdev}}',
    rate(name, selector='%(port)s'):: 'rate(%s{%s}[$__rate_interval])' % [name, selector],
    increase(name):: 'increase(%s{%%(port)s}[$__rate_interval])' % name,

    state:: (
      g.stat('State', 6) + g.unit('none') + g.named
      + g.text('Logical state of each port. Only "active" carries traffic.',
               |||
                 Down: check the cable, the module and the switch port. Init (InfiniBand): the subnet
                 manager has not configured the port.
               |||)
      + g.instant('rdma_port_state{%(port)s}', parts.portName) + g.mappings(states) + stateSteps + g.seeAlert('RdmaPortDown')
      + g.empty('No port found on the selected hosts')
    ),

    speed:: (
      g.stat('Speed', 6) + g.unit('bps') + g.named
      + g.text('Current rate of the port; absent while the port is not active.',
               |||
                 If it is less than the card supports, suspect the wrong cable or module, a lost lane,
                 or the settings of the switch port.
               |||)
      + g.instant('rdma_port_rate_bytes_per_second{%(port)s} * 8', parts.portName) + g.seeAlert('RdmaPortSpeedDegraded')
      + g.empty('No selected port is active')
    ),

    linkLost:: (
      g.stat('Link lost', 6) + g.unit('none', 0) + g.named
      + g.text('How often the interface lost its carrier in the time range. The kernel counts this, so no flap is missed.',
               'Clean or replace the cable and the module; check the error rows below and the other end.')
      + g.instant('increase(rdma_netdev_carrier_changes_total{%(port)s,to="down"}[$__range])', parts.netdevName)
      + g.step(1, 'orange') + g.seeAlert('RdmaLinkFlapping')
      + g.notCounted('an interface whose carrier the kernel counts')
    ),

    timeline:: (
      g.stateTimeline('Port state', 24, 6) + g.unit('none')
      + g.text('State of each port over time.', 'Compare the time of a change with the panels below: were there errors before it?')
      + g.query('rdma_port_state{%(port)s}', parts.portName) + g.mappings(states) + stateSteps
      + g.seeAlert('RdmaPortDown') + g.seeAlert('RdmaLinkFlapping')
      + g.empty('No port found on the selected hosts')
    ),

    throughput:: (
      g.timeseries('Throughput') + g.unit('Bps')
      + g.text('RDMA bytes sent (above) and received (below).',
               |||
                 If it is less than the job needs, check whether the port is paused or loses packets,
                 or whether its peer is slow.
               |||)
      + g.query(parts.rate('rdma_port_data_bytes_total'), parts.portName + ' {{direction}}') + g.receivedBelowZero
      + g.notCounted('traffic counters')
    ),

    utilization:: (
      g.timeseries('Share of the line rate') + g.unit('percentunit') + g.range(0)
      + g.text('Throughput as a share of the rate of the port.',
               'If it stays near 100 %, the port itself is the limit: spread the traffic over more ports.')
      + g.query(parts.rate('rdma_port_data_bytes_total') + ' / ignoring(direction) group_left () rdma_port_rate_bytes_per_second{%(port)s}',
                parts.portName + ' {{direction}}')
      + g.utilization
      + g.empty('No selected port is active and counts its traffic')
    ),
  }
