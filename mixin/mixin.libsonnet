// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// The mixin: _config, prometheusRules, prometheusAlerts and grafanaDashboards, as mixins of other projects have them.
(import 'config.libsonnet') +
{
  local lib = (import 'lib.libsonnet').new($._config),

  prometheusRules+:: {
    groups: [
      (import 'rules/rates.libsonnet')(lib),
      (import 'rules/votes.libsonnet')(lib),
      (import 'rules/history.libsonnet')(lib) { interval: $._config.historyInterval },
    ],
  },

  prometheusAlerts+:: {
    groups: [
      (import 'alerts/pause.libsonnet')(lib),
      (import 'alerts/ecn.libsonnet')(lib),
      (import 'alerts/loss.libsonnet')(lib),
      (import 'alerts/host.libsonnet')(lib),
      (import 'alerts/link.libsonnet')(lib),
      (import 'alerts/adapter.libsonnet')(lib),
      (import 'alerts/configuration.libsonnet')(lib),
      (import 'alerts/resources.libsonnet')(lib),
      (import 'alerts/probe.libsonnet')(lib),
      (import 'alerts/exporter.libsonnet')(lib),
    ],
  },

  grafanaDashboards+:: {
    'fleet.json': (import 'dashboards/fleet.libsonnet')($._config),
    'host.json': (import 'dashboards/host.libsonnet')($._config),
    'port.json': (import 'dashboards/port.libsonnet')($._config),
    'resources.json': (import 'dashboards/resources.libsonnet')($._config),
    'probe.json': (import 'dashboards/probe.libsonnet')($._config),
    'exporter.json': (import 'dashboards/exporter.libsonnet')($._config),
  },

  // Names that existing rules and dashboards use: docs/COMPATIBILITY.md, and for other exporters docs/MIGRATION.md.
  prometheusCompatibility+:: {
    groups: [(import 'rules/compatibility.libsonnet')(lib)],
  },
  prometheusMigration+:: {
    node_exporter: { groups: [(import 'rules/node_exporter.libsonnet')(lib)] },
    yuuki: { groups: [(import 'rules/yuuki.libsonnet')(lib)] },
  },
}
