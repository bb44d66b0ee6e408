// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// What dashboards are made of. A panel is a sum: kind + text + unit + queries, for example
//
//   g.timeseries('Throughput', 12) + g.unit('Bps')
//   + g.text('What it shows.', 'What to do about it.')
//   + g.query('rate(rdma_port_data_bytes_total{%(port)s}[$__rate_interval])', '{{instance}} {{direction}}')
//   + g.alert('RdmaSomething')          // draws that alert's threshold, and names it in the description
//
// In queries %(host)s, %(device)s and %(port)s are the selectors of the variables. Metrics of network interfaces have
// device and port, too.
//
// `config` is what `_config` of ../config.libsonnet is.
function(config)
  local alerts = config.alerts;
  local labels = (import '../labels.libsonnet')(config.labels);
  local selectors = {
    host: labels.selector,
    device: self.host + ',device=~"$device"',
    port: self.device + ',port=~"$port"',
  };

  {
    local g = self,

    // What Prometheus says of each target: those that are exporters, or were within the time range. A job may have others.
    target(expression):: '(%s) and on (job, instance) last_over_time(rdma_exporter_build_info{%%(host)s}[$__range])' % expression,

    // --- thresholds ---

    // Panels turn at >=, alerts fire at >. For an alert on "any" (threshold 0) they turn at the least that is more.
    color:: { critical: 'red', warning: 'orange', info: 'blue' },
    threshold(name):: if alerts[name].threshold == 0 then 1e-9 else alerts[name].threshold,

    // --- panels ---

    panel(type, title, width, height):: {
      local panel = self,
      width:: width,
      height:: height,
      what:: error 'panel "%s" has no text' % title,
      todo:: error 'panel "%s" does not say what to do' % title,
      empty:: error 'panel "%s" does not say why it may be empty' % title,
      alertNames:: [],
      queries:: [],
      steps:: [],

      type: type,
      title: title,
      description: panel.what + '\n\n**What to do:** ' + panel.todo + (
        if panel.alertNames == [] then '' else '\n\n**Alerts:** ' + std.join(', ', panel.alertNames)
      ),
      datasource: { type: 'prometheus', uid: '${datasource}' },
      targets: std.mapWithIndex(function(i, query) query { refId: std.char(std.codepoint('A') + i) }, panel.queries),
      fieldConfig: {
        defaults: {
          noValue: panel.empty,
          thresholds: {
            mode: 'absolute',
            steps: [{ color: if panel.steps == [] then 'blue' else 'green', value: null }]
                   + std.sort(panel.steps, function(step) step.value),
          },
        },
        overrides: [],
      },
      options: {},
    },

    // Joins several lines to one.
    local line(text) = std.strReplace(std.rstripChars(text, '\n'), '\n', ' '),
    text(what, todo):: { what:: line(what), todo:: line(todo) },
    unit(name, decimals=null):: {
      fieldConfig+: { defaults+: { unit: name } + (if decimals == null then {} else { decimals: decimals }) },
    },
    range(min, max=null):: { fieldConfig+: { defaults+: std.prune({ min: min, max: max }) } },
    step(value, color):: { steps+:: [{ color: color, value: value }] },
    // The alert's threshold (if it has one) and its name.
    alert(name):: { alertNames+:: [name] } + (
      if std.objectHas(alerts[name], 'threshold') then g.step(g.threshold(name), g.color[alerts[name].severity]) else {}
    ),
    // The same of a quantity that a panel draws below zero.
    alertBelowZero(name):: { alertNames+:: [name], steps+:: [{ color: g.color[alerts[name].severity], value: -g.threshold(name) }] },
    // Alerts that watch the same thing without a threshold in the panel's unit.
    seeAlert(name):: assert std.objectHas(alerts, name) : name; { alertNames+:: [name] },
    override(matcher, options, properties):: {
      fieldConfig+: {
        overrides+: [{
          matcher: { id: matcher, options: options },
          properties: [{ id: id, value: properties[id] } for id in std.objectFields(properties)],
        }],
      },
    },
    utilization:: g.step(config.dashboards.portUtilization.warning, g.color.warning)
                  + g.step(config.dashboards.portUtilization.critical, g.color.critical),
    // What is received hangs below zero, what is sent stands above.
    receivedBelowZero:: g.override('byRegexp', '/ rx( |$)/', { 'custom.transform': 'negative-Y' }),
    mappings(texts):: {
      fieldConfig+: {
        defaults+: {
          mappings+: [{
            type: 'value',
            options: {
              [value]: { index: std.parseInt(value), text: texts[value].text, color: texts[value].color }
              for value in std.objectFields(texts)
            },
          }],
        },
      },
    },
    // What stands there in place of "No data": good news, or why nothing is known.
    empty(text):: { empty:: text },
    // For series that the driver, the module or a collector may not provide.
    notCounted(what):: g.empty('No selected port has %s' % what),

    query(expression, legend='', instant=false, format='time_series'):: {
      queries+:: [{
        datasource: { type: 'prometheus', uid: '${datasource}' },
        editorMode: 'code',
        expr: labels.expression(std.rstripChars(expression % selectors, '\n')),
        legendFormat: labels.legend(legend),
        range: !instant,
        instant: instant,
        format: format,
      }],
    },
    instant(expression, legend=''):: g.query(expression, legend, instant=true),
    rows(expression):: g.query(expression, instant=true, format='table'),

    local legend(width) = {
      showLegend: true,
      displayMode: 'table',
      placement: if width > 12 then 'right' else 'bottom',
      calcs: ['lastNotNull', 'max'],
    },
    local tooltip = { mode: 'multi', sort: 'desc' },

    timeseries(title, width=12, height=9):: g.panel('timeseries', title, width, height) + {
      local panel = self,
      fieldConfig+: {
        defaults+: {
          color: { mode: 'palette-classic' },
          custom: {
            drawStyle: 'line',
            lineWidth: 1,
            fillOpacity: 10,
            showPoints: 'never',
            spanNulls: false,
            thresholdsStyle: { mode: if panel.steps == [] then 'off' else 'dashed' },
          },
        },
      },
      options+: { legend: legend(width), tooltip: tooltip },
    },
    logarithmic:: { fieldConfig+: { defaults+: { custom+: { scaleDistribution: { type: 'log', log: 10 } } } } },
    // Events are few: bars, and their number within each interval.
    bars:: { fieldConfig+: { defaults+: { custom+: { drawStyle: 'bars', fillOpacity: 80 } } } },

    stat(title, width=4, height=4):: g.panel('stat', title, width, height) + {
      fieldConfig+: { defaults+: { color: { mode: 'thresholds' } } },
      options+: {
        reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
        colorMode: 'value',
        graphMode: 'none',
        justifyMode: 'auto',
        orientation: 'auto',
        textMode: 'auto',
        wideLayout: true,
        showPercentChange: false,
        percentChangeColorMode: 'standard',
      },
    },
    named:: { options+: { textMode: 'value_and_name' } },

    bargauge(title, width=12, height=8):: g.panel('bargauge', title, width, height) + {
      fieldConfig+: { defaults+: { color: { mode: 'thresholds' } } },
      options+: {
        reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
        displayMode: 'gradient',
        orientation: 'horizontal',
        showUnfilled: true,
        valueMode: 'color',
        namePlacement: 'auto',
        sizing: 'auto',
        minVizWidth: 8,
        minVizHeight: 16,
        maxVizHeight: 300,
        legend: { showLegend: false, displayMode: 'list', placement: 'bottom', calcs: [] },
      },
    },

    stateTimeline(title, width=24, height=8):: g.panel('state-timeline', title, width, height) + {
      fieldConfig+: { defaults+: { color: { mode: 'thresholds' }, custom: { lineWidth: 0, fillOpacity: 80 } } },
      options+: {
        mergeValues: true,
        showValue: 'auto',
        alignValue: 'left',
        rowHeight: 0.9,
        legend: { showLegend: true, displayMode: 'list', placement: 'bottom', calcs: [] },
        tooltip: tooltip { mode: 'single' },
      },
    },

    heatmap(title, width=12, height=9):: g.panel('heatmap', title, width, height) + {
      local panel = self,
      axisUnit:: error 'heatmap "%s" has no axisUnit' % title,
      options+: {
        calculate: false,
        cellGap: 1,
        color: { mode: 'scheme', scheme: 'Oranges', steps: 64, reverse: false, exponent: 0.5, fill: 'dark-orange', scale: 'exponential' },
        exemplars: { color: 'rgba(255,0,255,0.7)' },
        filterValues: { le: 1e-9 },
        legend: { show: true },
        rowsFrame: { layout: 'auto' },
        showValue: 'never',
        tooltip: { mode: 'single', yHistogram: false, showColorScale: false },
        yAxis: { axisPlacement: 'left', reverse: false, unit: panel.axisUnit },
      },
    },

    table(title, width=12, height=8):: g.panel('table', title, width, height) + {
      fieldConfig+: {
        defaults+: g.absentIsBlank { color: { mode: 'thresholds' }, custom: { align: 'auto', minWidth: 60, cellOptions: { type: 'auto' }, filterable: true } },
      },
      options+: { showHeader: true, cellHeight: 'sm', frameIndex: 0, footer: { show: false, reducer: ['sum'] } },
    },
    // [['field', 'Heading'], ...]: these columns in this order, whatever else the queries return.
    columns(columns):: {
      local pairs = [[labels.name(pair[0]), pair[1]] for pair in columns],
      transformations+: [
        { id: 'filterFieldsByName', options: { include: { names: [pair[0] for pair in pairs] } } },
        {
          id: 'organize',
          options: {
            excludeByName: {},
            indexByName: { [pairs[i][0]]: i for i in std.range(0, std.length(pairs) - 1) },
            renameByName: { [pair[0]]: pair[1] for pair in pairs },
          },
        },
      ],
    },
    merge:: { transformations+: [{ id: 'merge', options: {} }] },
    sortBy(field):: { transformations+: [{ id: 'sortBy', options: { fields: {}, sort: [{ field: field, desc: true }] } }] },
    matrix(row, column, value):: {
      transformations+: [{
        id: 'groupingToMatrix',
        options: { rowField: labels.name(row), columnField: column, valueField: value, emptyValue: 'null' },
      }],
    },
    // Nothing where there is no value: without it such a cell has the colour of the lowest step, and the text of an empty
    // panel.
    absentIsBlank:: {
      mappings: [{ type: 'special', options: { match: 'null', result: { index: 0, text: '', color: 'transparent' } } }],
    },
    // The cells of a matrix, but not the names of its rows.
    coloredNumbers(properties={}):: g.override('byType', 'number', properties {
      'custom.cellOptions': { type: 'color-background', mode: 'basic' },
    }),
    // Alerts that fire, the worst first.
    firing:: g.rows(std.join(' or ', [
      'ALERTS{alertname=~"Rdma.*",alertstate="firing",%%(host)s,severity%s} * %d' % rank
      for rank in [['="critical"', 3], ['="warning"', 2], ['!~"critical|warning"', 1]]
    ])) + g.sortBy('Value') + g.columns([
      ['severity', 'Severity'],
      ['alertname', 'Alert'],
      ['instance', 'Host'],
      ['device', 'Device'],
      ['port', 'Port'],
      ['netdev', 'Interface'],
    ]) + g.severities + g.empty('No alert is firing, or no rules are loaded'),
    // The column Severity of a table of alerts.
    severities:: g.override('byName', 'Severity', g.colored {
      mappings: [{
        type: 'value',
        options: {
          [name]: { index: std.find(name, ['critical', 'warning', 'info'])[0], color: g.color[name], text: name }
          for name in ['critical', 'warning', 'info']
        },
      }],
    }),
    colored:: { 'custom.cellOptions': { type: 'color-background', mode: 'gradient', applyToRow: false } },
    // A link from a cell of the column to another dashboard, with `more` of its variables from the same line.
    local link(column, title, uid, more) = g.override('byName', column, {
      links: [{
        title: title,
        url: '/d/%s?' % uid + '${datasource:queryparam}&' + labels.passed + '&' + std.join('&', [
          'var-%s=${__data.fields["%s"]}' % pair
          for pair in more
        ]) + '&${__url_time_range}',
      }],
    }),
    toHost(column):: link(column, 'This host', 'rdma-host', [['instance', 'Host']]),
    toPort(column, device='Where'):: link(column, 'This device', 'rdma-port', [['instance', 'Host'], ['device', device]]),
    // To the dashboard that it is on, narrowed to what the line says.
    narrowed(column, uid, variable):: link(column, 'Only this', uid, [[variable, column]]),
    // The same from a cell of a matrix, narrowed to its column.
    narrowedToColumn(uid, variable):: g.override('byType', 'number', {
      links: [{
        title: 'Only this column',
        url: '/d/%s?' % uid + '${datasource:queryparam}&' + labels.passed + '&var-%s=${__field.name}' % variable + '&${__url_time_range}',
      }],
    }),
  } + (import 'frame.libsonnet')(selectors, labels)
