// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// What is around the panels of a dashboard: places in the grid, variables, links, annotations. `selectors` as in
// lib.libsonnet, `labels` in ../labels.libsonnet.
function(selectors, labels) {
  // Panels of a row from left to right, wrapped at the width of the grid. What is in a folded row asks nothing until
  // somebody opens it.
  row(title, panels):: { title: title, panels: panels, folded: false },
  folded(title, panels):: self.row(title, panels) { folded: true },

  // Panels side by side, from line `top` on, and the line below them.
  local grid(panels, top) = std.foldl(
    function(state, item)
      local wraps = state.x + item.width > 24;
      local x = if wraps then 0 else state.x;
      local y = if wraps then state.y + state.height else state.y;
      {
        x: x + item.width,
        y: y,
        height: if wraps then item.height else std.max(state.height, item.height),
        panels: state.panels + [item { gridPos: { h: item.height, w: item.width, x: x, y: y } }],
      },
    panels,
    { x: 0, y: top, height: 0, panels: [] }
  ),

  local placed(rows) = std.foldl(
    function(state, row)
      local inside = grid(row.panels, state.bottom + 1);
      local numbered = std.mapWithIndex(function(i, panel) panel { id: state.id + 1 + i }, inside.panels);
      {
        id: state.id + 1 + std.length(row.panels),
        bottom: if row.folded then state.bottom + 1 else inside.y + inside.height,
        panels: state.panels + [{
          id: state.id,
          type: 'row',
          title: row.title,
          collapsed: row.folded,
          gridPos: { h: 1, w: 24, x: 0, y: state.bottom },
          panels: if row.folded then numbered else [],
        }] + (if row.folded then [] else numbered),
      },
    rows,
    { id: 1, bottom: 0, panels: [] }
  ).panels,

  // Choices of `name`, values of `of`. All is every value there is, or with `all` whatever matches that.
  local variable(name, label, metric, selector, of=name, all='.*') = {
    type: 'query',
    name: name,
    label: label,
    datasource: { type: 'prometheus', uid: '${datasource}' },
    query: { query: 'label_values(%s{%s}, %s)' % [metric, selector % selectors, of], refId: 'StandardVariableQuery' },
    definition: self.query.query,
    includeAll: true,
    multi: true,
    [if all != null then 'allValue']: all,
    current: { selected: true, text: ['All'], value: ['$__all'] },
    refresh: 2,  // when the time range changes
    sort: 7,  // natural, upper and lower case alike
    regex: '',
    hide: 0,
    options: [],
  },

  local chosen = { includeAll: false, allValue:: null, current: { selected: false, text: [], value: [] } },

  // Where series are from, as exporters tell. All jobs are the jobs of exporters, not all that the Prometheus has; a
  // cluster may be absent, and hosts are too many for a list of their names.
  // With `one`, a dashboard about one host begins with the first of them: all hosts of a fleet would be too much for it.
  local origins(one) =
    local titles = { cluster: 'Cluster', job: 'Job', instance: 'Host' };
    std.mapWithIndex(
      function(i, pair) variable(
        pair[0],
        titles[pair[0]],
        'rdma_exporter_build_info',
        std.join(',', ['%s=~"$%s"' % [outer[1], outer[0]] for outer in labels.variables[0:i]]),
        pair[1],
        if pair[0] == 'job' then null else '.*',
      ) + (if one && pair[0] == 'instance' then chosen else {}),
      labels.variables
    ),

  // For dashboards that have more of them: dashboard(..., variables=[g.variable(...)]).
  variable:: variable,

  local annotation(name, color, expression, title, text, tags='') = {
    name: name,
    datasource: { type: 'prometheus', uid: '${datasource}' },
    enable: true,
    hide: false,
    iconColor: color,
    expr: labels.expression(std.rstripChars(expression % selectors, '\n')),
    titleFormat: title,
    textFormat: labels.legend(text),
    tagKeys: tags,
    useValueForTime: false,
  },

  dashboard(uid, title, description, rows, variables=[], one=false):: {
    uid: uid,
    title: 'RDMA / ' + title,
    description: description,
    tags: ['rdma'],
    editable: false,
    graphTooltip: 1,  // one crosshair for all panels
    schemaVersion: 39,
    version: 1,
    timezone: 'browser',
    refresh: '30s',
    time: { from: 'now-1h', to: 'now' },
    timepicker: {},
    fiscalYearStartMonth: 0,
    weekStart: '',
    links: [{
      type: 'dashboards',
      title: 'RDMA',
      tags: ['rdma'],
      asDropdown: false,
      includeVars: true,
      keepTime: true,
      targetBlank: false,
      icon: 'external link',
      tooltip: '',
      url: '',
    }],
    templating: {
      list: [
        {
          type: 'datasource',
          name: 'datasource',
          label: 'Data source',
          query: 'prometheus',
          current: { selected: true, text: 'default', value: 'default' },
          includeAll: false,
          multi: false,
          refresh: 1,
          regex: '',
          hide: 0,
          options: [],
        },
      ] + origins(one) + [
        variable('device', 'Device', 'rdma_device_up', '%(host)s'),
        variable('port', 'Port', 'rdma_port_up', '%(device)s'),
      ] + variables,
    },
    annotations: {
      list: [
        annotation('Alerts',
                   'red',
                   'ALERTS{alertname=~"Rdma.*",alertstate="firing",%(host)s}',
                   '{{alertname}}',
                   '{{instance}} {{device}} {{netdev}}',
                   'severity'),
        annotation('Exporter started',
                   'blue',
                   'changes(process_start_time_seconds{%(host)s}[2m]) > 0',
                   'Exporter started',
                   '{{instance}}'),
        annotation('Firmware changed',
                   'purple',
                   |||
                     (
                       rdma_device_info{%(device)s}
                       unless on (job, instance, device, fw_version) rdma_device_info{%(device)s} offset 5m
                     )
                     and on (job, instance, device) rdma_device_info{%(device)s} offset 5m
                   |||,
                   'Firmware changed',
                   '{{instance}} {{device}} {{fw_version}}'),
      ],
    },
    panels: placed(rows),
  },
}
