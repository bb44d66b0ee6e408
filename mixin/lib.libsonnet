// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// How a group, a recording rule and an alert are built. Expressions name values of the configuration as %(name)s: those
// of the alert itself, the windows, and what the configuration has for all alerts.

// 0.1 and not 0.10000000000000001; jsonnet 0.18 cannot do %g of 0.
local number(value) = if !std.isNumber(value) then value else if value == 0 then '0' else '%g' % value;
local readable(values) = std.mapWithKey(function(_, value) number(value), values);

{
  number:: number,

  // `config` is what `_config` of config.libsonnet is.
  new(config):: {
    local labels = config.labels,
    local shared = config.windows {
      exporterSelector: config.exporterSelector,
      selector: config.selector,
      // Groupings; each has the cluster, because one Prometheus, ruler or Alertmanager may serve several.
      cluster: labels.cluster,
      instance: labels.instance,
      scope: std.join(', ', std.prune([labels.cluster, labels.job])),
      host: labels.job + ', ' + labels.instance,
      target: self.scope + ', ' + labels.instance,
      peers: std.join(', ', std.prune([labels.cluster]) + config.peers),
      leaf: std.join(', ', std.prune([labels.cluster, 'chassis_id'])),
      history: config.history,
      memory: config.memory,
      hold: config.historyHold,
      // Adapters behind one switch, as far as labels tell: a device's name is its rail.
      rail: std.join(', ', std.prune([self.scope, 'device', if config.dashboards.leaf != '' then config.dashboards.leaf])),
    } + { ['votes_' + name]: number(config.votes[name]) for name in std.objectFields(config.votes) },

    // One line, with this site's labels.
    local text(several) = std.foldl(
      function(line, pair) std.strReplace(line, pair[0], pair[1]),
      [
        ['\n', ' '],
        ['$labels.job', '$labels.' + labels.job],
        ['$labels.instance', '$labels.' + labels.instance],
        ['%(selector)s', config.selector],
      ],
      std.rstripChars(several, '\n'),
    ),

    // For a histogram that Prometheus stores with classic buckets, as a native one, or both.
    quantile(share, histogram):: |||
      histogram_quantile(%(share)s, rate(%(histogram)s_bucket[%%(probe)s]))
      or
      histogram_quantile(%(share)s, rate(%(histogram)s[%%(probe)s]))
    ||| % { share: number(share), histogram: histogram },

    record(name, expr):: { record: name, expr: std.rstripChars(expr % shared, '\n') },

    alert(name, expr, summary, description)::
      local own = config.alerts[name];
      {
        alert: name,
        expr: std.rstripChars(expr % (shared + readable(own)), '\n'),
        'for': own['for'],
        [if std.objectHas(own, 'keep') then 'keep_firing_for']: own.keep,
        labels: { severity: own.severity },
        annotations: {
          summary: summary,
          description: text(description),
          runbook_url: config.runbookUrl % name,
        },
      },

    group(name, rules):: { name: name, rules: rules },
  },
}
