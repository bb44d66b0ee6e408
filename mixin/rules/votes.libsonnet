// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Who is to blame for probes that fail or are slow: an adapter, a target, the fabric of a rail, or a single path. Each bad
// path votes, and the largest component that explains it takes the blame. Only one-sided operations count, which the far
// adapter answers. Every share has its denominator, the probed paths. Failures of the control connection say nothing about
// a path.
function(lib) lib.group('rdma-probe-votes', [
  // Paths that were probed. Targets that rotate have no name, and so no vote.
  lib.record('path:rdma_probe_attempts:rate', |||
    sum without (op) (rate(rdma_probe_attempts_total{op!="echo",target!=""}[%(probe)s])) > 0
  |||),
  // Those that fail, or lose packets: RC retransmits, so that a lost packet makes an operation slow and rarely fail.
  // What is wrong with the prober itself (gid, local), and ports that are down, other alerts say.
  lib.record('path:rdma_probe_failures:failing', |||
    (
      sum without (op, stage, reason) (rate(rdma_probe_failures_total{op!="echo",target!="",stage!~"gid|local"}[%(probe)s]))
        / path:rdma_probe_attempts:rate
      >= %(votes_failing)s
      or
      sum without (op) (rate(rdma_probe_retransmit_suspected_total{op!="echo",target!=""}[%(probe)s]))
        / path:rdma_probe_attempts:rate
      >= %(votes_losing)s
    )
    unless on (%(target)s, device, port) port:rdma_port_up:down
    unless on (%(scope)s, target) label_replace(port:rdma_port_up:down, "target", "$1", "%(instance)s", "([^:]+).*")
    unless on (%(scope)s, target) label_replace(up == 0, "target", "$1", "%(instance)s", "([^:]+).*")
  |||),

  // Of an adapter as others see it; the prober's device stands for the rail, on which the target's has the same name.
  lib.record('target_device:rdma_probe_paths:failing_ratio', |||
    count by (%(scope)s, target, device) (path:rdma_probe_failures:failing)
      / (count by (%(scope)s, target, device) (path:rdma_probe_attempts:rate) >= %(votes_paths)s)
  |||),
  // Of an adapter as it sees others, without those targets that nobody reaches.
  lib.record('port:rdma_probe_paths:failing_ratio', |||
    count without (target, flow) (
      path:rdma_probe_failures:failing
      unless on (%(scope)s, target, device) target_device:rdma_probe_paths:failing_ratio >= %(votes_share)s
    )
      / (
        count without (target, flow) (
          path:rdma_probe_attempts:rate
          unless on (%(scope)s, target, device) target_device:rdma_probe_paths:failing_ratio >= %(votes_share)s
        ) >= %(votes_paths)s
      )
  |||),
  // Paths whose failure neither end explains.
  lib.record('path:rdma_probe_failures:unexplained', |||
    path:rdma_probe_failures:failing
    unless on (%(target)s, device, port) port:rdma_probe_paths:failing_ratio >= %(votes_share)s
    unless on (%(scope)s, target, device) target_device:rdma_probe_paths:failing_ratio >= %(votes_share)s
  |||),
  // Of the adapters of a rail (and leaf, where scrape targets have the label) how many reach few of all their targets, or
  // have a path that nothing explains: several at once are not several defects. When a whole rail is away, all targets
  // are bad, so that here they excuse nobody.
  lib.record('rail:rdma_probe_nics:failing_ratio', |||
    (
      count by (%(rail)s) (
        count without (target, flow) (path:rdma_probe_failures:unexplained)
        or
        count without (target, flow) (path:rdma_probe_failures:failing)
          / count without (target, flow) (path:rdma_probe_attempts:rate)
        >= %(votes_share)s
      ) >= %(votes_nics)s
    )
      / count by (%(rail)s) (count without (target, flow) (path:rdma_probe_attempts:rate))
  |||),
])
