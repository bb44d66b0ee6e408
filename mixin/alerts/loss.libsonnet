// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Loss, reordering, retransmission: what the RDMA transport had to repair or could not.
function(lib) lib.group('rdma-loss', [
  lib.alert(
    'RdmaOutOfSequence',
    |||
      port:rdma_port_out_of_sequence:ratio_rate > %(threshold)s
      and rate(rdma_port_out_of_sequence_total[%(rate)s]) > %(floor)s
    |||,
    'Packets arrive out of sequence',
    |||
      {{ $value | humanizePercentage }} of the packets that {{ $labels.instance }} received on {{ $labels.device }} port
      {{ $labels.port }} arrived ahead of the expected one: loss or reordering on the path to this host.
    |||,
  ),
  lib.alert(
    'RdmaSequenceNaks',
    'rate(rdma_port_sequence_naks_total{direction="rx"}[%(window)s]) > %(threshold)s',
    'Packets from a host get lost on the way to its peers',
    |||
      {{ $labels.instance }} received {{ $value | humanize }} sequence NAKs per second on {{ $labels.device }} port
      {{ $labels.port }}: packets that it sent were lost or reordered on the way to its peers.
    |||,
  ),
  lib.alert(
    'RdmaAckTimeouts',
    'rate(rdma_port_ack_timeouts_total[%(window)s]) > %(threshold)s',
    'Acknowledgements time out',
    |||
      {{ $value | humanize }} acknowledgements per second to {{ $labels.instance }} timed out on {{ $labels.device }}
      port {{ $labels.port }}, and it retransmitted.
    |||,
  ),
  lib.alert(
    'RdmaConnectionsDying',
    |||
      count by (%(scope)s) (
        max by (%(target)s) (increase(rdma_port_retries_exceeded_total[%(window)s])) > 0
      )
      / count by (%(scope)s) (rdma_exporter_build_info) > %(threshold)s
      and count by (%(scope)s) (
        max by (%(target)s) (increase(rdma_port_retries_exceeded_total[%(window)s])) > 0
      ) >= %(hosts)s
    |||,
    'Connections keep failing on many hosts',
    |||
      {{ $value | humanizePercentage }} of the hosts of job {{ $labels.job }} have given up RDMA requests after the last
      retry for twelve minutes. A job that ends causes this only once.
    |||,
  ),
  lib.alert(
    'RdmaRetriesExceeded',
    'increase(rdma_port_retries_exceeded_total[%(window)s]) > %(threshold)s',
    'Connections of a port fail repeatedly',
    |||
      {{ $labels.instance }} gave up {{ $value | printf "%.0f" }} requests on {{ $labels.device }} port {{ $labels.port }}
      (kind {{ $labels.kind }}; transport: the peer did not answer, rnr: it had no receive buffer). Their queue pairs
      are in the error state.
    |||,
  ),
])
