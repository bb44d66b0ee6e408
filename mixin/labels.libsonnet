// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// The labels that say where a series is from, as this site calls them. Dashboards are written with `job` and `instance`;
// every grouping by `job` gets the cluster, too. `names` is `labels` of config.libsonnet.
function(names) {
  local clustered = names.cluster != '',
  local replaced(text, pairs) = std.foldl(function(now, pair) std.strReplace(now, pair[0], pair[1]), pairs, text),

  // A label as people write it in a dashboard.
  name(label):: if std.objectHas(names, label) then names[label] else label,
  // [variable, label] in the order in which one narrows the next.
  variables:: (if clustered then [['cluster', names.cluster]] else []) + [['job', names.job], ['instance', names.instance]],
  selector:: std.join(',', ['%s=~"$%s"' % [pair[1], pair[0]] for pair in self.variables]),
  // What a link hands on beside the host.
  passed:: std.join('&', ['${%s:queryparam}' % pair[0] for pair in self.variables if pair[0] != 'instance']),

  local scope = std.join(', ', std.prune([if clustered then names.cluster, names.job])),
  expression(text):: replaced(text, [
    ['(job, instance', '(%s, %s' % [scope, names.instance]],
    ['(job, ', '(%s, ' % scope],
    ['(job)', '(%s)' % scope],
    ['"instance"', '"%s"' % names.instance],
  ]),
  legend(text):: std.strReplace(text, '{{instance}}', '{{%s}}' % names.instance),
}
