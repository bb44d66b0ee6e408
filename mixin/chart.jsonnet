// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// What the Helm chart lets people set, each as a mark that its templates replace: helm cannot run jsonnet. `defaults` are
// the values of config.libsonnet, as text; `rules` and `dashboards` override _config. A dashboard calculates with
// thresholds, so that only the names of the labels are marks there.
local config = (import 'config.libsonnet')._config;
local lib = import 'lib.libsonnet';

local mark(path) = '@%s@' % path;
local labels = std.mapWithKey(function(label, _) mark('labels.' + label), config.labels);

{
  defaults: {
    runbookUrl: config.runbookUrl,
    selector: config.selector,
    exporterSelector: config.exporterSelector,
    labels: config.labels,
    alerts: std.mapWithKey(function(_, alert) std.mapWithKey(function(_, value) '%s' % lib.number(value), alert), config.alerts),
  },
  rules: {
    runbookUrl: mark('runbookUrl') + '%s@',  // with the alert's name in it, for the value has a %s too
    selector: mark('selector'),
    exporterSelector: mark('exporterSelector'),
    labels: labels,
    alerts: std.mapWithKey(
      function(name, alert) std.mapWithKey(function(key, _) mark('alerts.%s.%s' % [name, key]), alert), config.alerts
    ),
  },
  dashboards: { labels: labels },
}
