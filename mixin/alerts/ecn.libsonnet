// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Congestion control by ECN (DCQCN): marks, congestion notification packets (CNP).
function(lib) lib.group('rdma-ecn', [
  lib.alert(
    'RdmaEcnMarkedHigh',
    |||
      port:rdma_port_ecn_marked_packets:ratio_rate > %(threshold)s
      and ignoring (direction) port:rdma_port_packets:rate{direction="rx"} > %(floor)s
    |||,
    'Much of the traffic to a host carries congestion marks',
    |||
      {{ $value | humanizePercentage }} of the RDMA packets that {{ $labels.instance }} received on {{ $labels.device }}
      port {{ $labels.port }} carry a congestion mark. Congestion control works; the path to this host is overloaded.
    |||,
  ),
  lib.alert(
    'RdmaCnpIgnored',
    'rate(rdma_port_cnp_ignored_total[%(window)s]) > %(threshold)s',
    'A host ignores congestion notifications',
    |||
      {{ $labels.instance }} ignored {{ $value | humanize }} congestion notifications per second on {{ $labels.device }}
      port {{ $labels.port }}: its peers ask it to slow down, and it does not.
    |||,
  ),
])
