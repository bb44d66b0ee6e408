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
    'Much of what a host receives went through congestion',
    |||
      {{ $value | humanizePercentage }} of the RDMA packets that {{ $labels.instance }} received on {{ $labels.device }}
      port {{ $labels.port }} carry a congestion mark. Congestion control works; the path to this host is too narrow.
    |||,
  ),
  lib.alert(
    'RdmaCnpIgnored',
    'rate(rdma_port_cnp_ignored_total[%(window)s]) > %(threshold)s',
    'A host ignores congestion notifications',
    |||
      {{ $labels.instance }} ignored {{ $value | humanize }} congestion notifications per second on {{ $labels.device }}
      port {{ $labels.port }}: it does not slow down although it is told to.
    |||,
  ),
])
