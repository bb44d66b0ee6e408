// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// How a group, a recording rule and an alert are built. Expressions name values of the configuration as %(name)s: those
// of the alert itself, the windows, and what the configuration has for all alerts.

// 0.1 and not 0.10000000000000001; jsonnet 0.18 cannot do %g of 0.
local number(value) = if value == 0 then '0' else '%g' % value;
local readable(values) = std.mapWithKey(function(_, value) if std.isNumber(value) then number(value) else value, values);

{
  // `config` is what `_config` of config.libsonnet is.
  new(config):: {
    local shared = config.windows {
      exporterSelector: config.exporterSelector,
      peers: config.peers,
      netdevPeers: config.netdevPeers,
      history: config.history,
      memory: config.memory,
    },

    record(name, expr):: { record: name, expr: std.rstripChars(expr % shared, '\n') },

    alert(name, expr, summary, description)::
      local own = config.alerts[name];
      {
        alert: name,
        expr: std.rstripChars(expr % (shared + readable(own)), '\n'),
        'for': own['for'],
        labels: { severity: own.severity },
        annotations: {
          summary: summary,
          description: std.strReplace(std.rstripChars(description, '\n'), '\n', ' '),
          runbook_url: config.runbookUrl % name,
        },
      },

    group(name, rules):: { name: name, rules: rules },

    // The RDMA devices of $labels.netdev, for a description. A query in the text, because a join in the expression would
    // lose the alert where an interface has no port of its own, or two.
    devicesOfNetdev: '{{ range query (printf "rdma_port_info{instance=%q,netdev=%q}" $labels.instance $labels.netdev) }}'
                     + ' (RDMA device {{ .Labels.device }} port {{ .Labels.port }}){{ end }}',
  },
}
