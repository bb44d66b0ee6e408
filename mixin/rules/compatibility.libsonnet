// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Names that existing rules and dashboards use, made of ours: docs/COMPATIBILITY.md. rdma_device_up is not here, it is
// the exporter's own. What is a counter stays one, with its resets, so that rate() works on it.

// Counters that stand still on a healthy host. Not added up: a sum of counters falls when one of them is reset, and
// rate() would take that for a reset of all.
local errors = {
  retries_exceeded: 'rdma_port_retries_exceeded_total',
  access: 'rdma_port_access_errors_total',
  icrc: 'rdma_port_icrc_errors_total',
  receive: 'rdma_port_receive_errors_total',
  constraint: 'rdma_port_constraint_errors_total',
  link_integrity: 'rdma_port_local_link_integrity_errors_total',
  buffer_overrun: 'rdma_port_excessive_buffer_overrun_errors_total',
};

function(lib) lib.group('rdma-compatibility', [
  lib.record('rdma_bytes_total', 'rdma_port_data_bytes_total'),
  lib.record('rdma_errors_total', std.join('\nor ', [
    'label_replace(%s, "error", "%s", "", "")' % [errors[name], name]
    for name in std.objectFields(errors)
  ])),
  lib.record('rdma_queue_utilization', |||
    label_replace(
      rdma_resource_objects{type=~"qp|cq|srq"} / (rdma_resource_objects_limit > 0),
      "queue", "$1", "type", "(.*)"
    )
  |||),
  lib.record('rdma_latency_seconds_bucket', 'rdma_probe_rtt_seconds_bucket'),
  lib.record('rdma_latency_seconds_sum', 'rdma_probe_rtt_seconds_sum'),
  lib.record('rdma_latency_seconds_count', 'rdma_probe_rtt_seconds_count'),
  // Microseconds, which is no base unit: it is what the existing rules compare with.
  lib.record('rdma_latency_p99', '1e6 * (%s)' % lib.quantile(0.99, 'rdma_probe_rtt_seconds')),
])
