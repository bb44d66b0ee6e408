// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// What scripts/mixin writes to dashboards/: {file: dashboard}. `override` is added to the configuration.
function(override={})
  ((import 'mixin.libsonnet') { _config+:: override }).grafanaDashboards
