// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// What scripts/mixin writes: {file: rules}. `override` is added to the configuration.
function(override={})
  local mixin = (import 'mixin.libsonnet') { _config+:: override };
  {
    'recording.rules.yml': mixin.prometheusRules,
    'alerts.rules.yml': mixin.prometheusAlerts,
    'migration/compat.rules.yml': mixin.prometheusCompatibility,
    'migration/node_exporter.rules.yml': mixin.prometheusMigration.node_exporter,
    'migration/yuuki.rules.yml': mixin.prometheusMigration.yuuki,
  }
