// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Congestion control by ECN (DCQCN): marks, congestion notification packets (CNP).
function(lib) lib.group('rdma-ecn', [
  lib.alert(
    'RdmaEcnMarkedHigh',
    |||
      rdma:ecn_marked:ratio > %(threshold)s
      and ignoring (direction) rdma:port_packets:rate{direction="rx"} > %(floor)s
    |||,
    'Much of what a host receives went through congestion',
    |||
      {{ $value | humanizePercentage }} of the RDMA packets that {{ $labels.instance }} received on {{ $labels.device }}
      port {{ $labels.port }} carry a congestion mark. Congestion control works; the path to this host is too narrow.
    |||,
  ),
  lib.alert(
    'RdmaEcnWithoutCnp',
    |||
      rate(rdma_port_ecn_marked_packets_total[%(window)s]) > %(threshold)s
      and ignoring (direction) rate(rdma_port_cnp_packets_total{direction="tx"}[%(window)s]) == 0
    |||,
    'A host receives congestion marks and tells nobody',
    |||
      {{ $labels.instance }} received {{ $value | humanize }} marked packets per second on {{ $labels.device }} port
      {{ $labels.port }} and sent no congestion notification: its senders do not slow down.
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
  lib.alert(
    'RdmaPfcWithoutEcn',
    |||
      sum by (%(target)s, netdev) (rate(rdma_pfc_frames_total{direction="rx"}[%(window)s])) > %(threshold)s
      and on (%(target)s, netdev)
      rate(rdma_port_cnp_packets_total{direction="rx"}[%(window)s])
        * on (%(target)s, device, port) group_left (netdev) rdma_port_info{netdev!=""} == 0
    |||,
    'The fabric pauses a host but never asks it to slow down',
    |||
      {{ $labels.instance }} received {{ $value | humanize }} PFC frames per second on {{ $labels.netdev }} and not one
      congestion notification. Pause is the only brake; ECN is off or marks too late.
    |||,
  ),
])
