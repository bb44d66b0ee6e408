// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Queue pairs, memory regions, completion queues.
function(lib) lib.group('rdma-resources', [
  lib.alert(
    'RdmaResourceExhaustion',
    'device_type:rdma_resource_objects:ratio > %(threshold)s',
    'An RDMA device is running out of objects',
    |||
      {{ $labels.device }} of {{ $labels.instance }} has {{ $value | humanizePercentage }} of the {{ $labels.type }}
      objects that it supports in use. When all are used, new connections fail.
    |||,
  ),
  lib.alert(
    'RdmaQpErrorState',
    |||
      sum without (port, qp_type, space) (rdma_resource_qps{state=~"ERR|SQE"}) > %(threshold)s
    |||,
    'Queue pairs stay in an error state',
    |||
      {{ $value }} queue pairs of {{ $labels.device }} on {{ $labels.instance }} are in state {{ $labels.state }}: their
      connections are dead and were never cleaned up.
    |||,
  ),
])
