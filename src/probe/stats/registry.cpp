// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/stats/registry.h"

#include <array>
#include <utility>

#include "core/labels.h"
#include "core/seconds.h"
#include "probe/stats/metric_table.h"

namespace rdma_exporter::probe {
namespace {

using core::render_labels;
using namespace families;

constexpr std::array<Op, kOps> kAllOps{Op::write, Op::read, Op::echo};
constexpr std::array kRtts{std::pair(Op::write, RttClock::host), std::pair(Op::read, RttClock::host),
                           std::pair(Op::read, RttClock::nic), std::pair(Op::echo, RttClock::host)};
// Present from the first scrape on, so that the first failure is an increase. Every session counts ticks
// before its first connection, so that this one needs no series of its own.
constexpr Failure kAnticipated{Stage::op, "retry_exc_err"};
constexpr Failure kAnticipatedEcho{Stage::echo, kDeadline};
constexpr Failure kAnticipatedControl{Stage::tcp, kNotConnected};

// `sum`: of several targets, which have no common last or lowest value. `of_path`: its round trip is the
// path's, and not also the peer process's.
void add_op(core::SampleBatch& out, const std::string& owner, Op op, const OpStats& stats, bool sum,
            bool of_path) {
  std::string labels = owner;
  core::append_label(labels, "op", to_string(op));
  out.add(kAttempts, labels, stats.attempts);
  if (of_path) out.add(kRetransmits, labels, stats.retransmits);
  auto failures = stats.failures;
  const Failure& first = op == Op::echo ? kAnticipatedEcho : kAnticipated;
  failures.try_emplace({first.stage, first.reason}, 0);
  for (const auto& [cause, count] : failures) {
    std::string block = labels;
    core::append_label(block, "stage", to_string(cause.first));
    core::append_label(block, "reason", cause.second);
    out.add(kFailures, block, count);
  }
  if (sum || stats.successes == 0) return;
  out.add(kLastSuccess, labels, stats.last_success);
  if (!of_path) return;
  out.add(kLastRtt, labels, core::seconds(stats.last));
  if (const auto least = stats.least.get(Clock::now())) out.add(kMinRtt, labels, core::seconds(*least));
}

void add_control_failures(core::SampleBatch& out, const std::string& owner,
                          const TargetStats::Snapshot& now) {
  auto failures = now.control_failures;
  failures.try_emplace({kAnticipatedControl.stage, kAnticipatedControl.reason}, 0);
  for (const auto& [cause, count] : failures) {
    std::string block = owner;
    core::append_label(block, "stage", to_string(cause.first));
    core::append_label(block, "reason", cause.second);
    out.add(kControlFailures, block, count);
  }
}

void add_facts(core::SampleBatch& out, std::string labels, const SessionFacts& facts) {
  core::append_label(labels, "op", to_string(facts.op));
  core::append_label(labels, "clock", to_string(facts.clock));
  core::append_label(labels, "connect", facts.transport == Transport::rdma_cm ? "rdma_cm" : "verbs");
  core::append_label(labels, "path_mtu", facts.path_mtu == 0 ? "" : std::to_string(facts.path_mtu));
  core::append_label(labels, "udp_source_port",
                     facts.udp_source_port == 0 ? "" : std::to_string(facts.udp_source_port));
  core::append_label(labels, "local_address", facts.local_address);
  core::append_label(labels, "peer_address", facts.peer_address);
  core::append_label(labels, "peer_device", facts.peer_device);
  out.add(kSessionInfo, labels, std::uint64_t{1});
}

void add_flow(core::SampleBatch& out, const Registry::Series& series, const TargetStats::Snapshot& now) {
  const bool sum = series.target.empty();
  const std::string owner = render_labels({{"device", series.device},
                                           {"port", std::to_string(series.port)},
                                           {"target", series.target},
                                           {"flow", sum ? "" : std::to_string(series.flow)}});
  const bool one_sided_used = now.ops[0].attempts + now.ops[1].attempts != 0;
  for (const Op op : kAllOps) {
    const OpStats& stats = now.ops[static_cast<std::size_t>(op)];
    if (stats.attempts != 0) add_op(out, owner, op, stats, sum, op != Op::echo || !one_sided_used);
  }
  add_control_failures(out, owner, now);
  if (sum) return;
  if (now.up) out.add_flag(kUp, owner, *now.up);
  const auto& one_sided = now.ops[now.ops[0].successes != 0 ? 0 : 1];
  const auto& echo = now.ops[static_cast<std::size_t>(Op::echo)];
  if (one_sided.successes != 0 && echo.successes != 0)
    out.add(kHostDelay, owner, core::seconds(echo.mean - one_sided.mean));
  if (now.facts) add_facts(out, owner, *now.facts);
}

// Counts of a port over all targets.
struct PortSums {
  std::array<std::uint64_t, kOps> overruns{};
  std::array<bool, kOps> used{};
  std::array<std::uint64_t, kStates.size()> states{};
  std::uint64_t connects = 0;
  std::uint64_t spun = 0;
  std::uint64_t slept = 0;
  std::uint64_t preempted = 0;

  // The counts of rotating targets are in their sum, but each has its own session.
  void add_counts(const TargetStats::Snapshot& now) {
    for (std::size_t op = 0; op < kOps; ++op) {
      overruns[op] += now.ops[op].overruns;
      used[op] = used[op] || now.ops[op].attempts != 0;
    }
    connects += now.connects;
    spun += now.spun;
    slept += now.slept;
    preempted += now.preempted;
  }
  void add_session(const TargetStats::Snapshot& now) {
    if (now.state) ++states[static_cast<std::size_t>(*now.state)];
  }
};

void add_port(core::SampleBatch& out, const std::string& owner, const PortSums& sums) {
  const auto with_label = [&owner](std::string_view name, std::string_view value) {
    std::string labels = owner;
    core::append_label(labels, name, value);
    return labels;
  };
  for (const Op op : kAllOps)
    if (const auto at = static_cast<std::size_t>(op); sums.used[at])
      out.add(kOverruns, with_label("op", to_string(op)), sums.overruns[at]);
  out.add(kConnects, owner, sums.connects);
  out.add(kSamples, with_label("wait", "spin"), sums.spun);
  out.add(kSamples, with_label("wait", "event"), sums.slept);
  out.add(kSamples, with_label("wait", "preempted"), sums.preempted);
  for (std::size_t state = 0; state < kStates.size(); ++state)
    out.add(kSessions, with_label("state", kStates[state]), sums.states[state]);
}

void add_targets(core::SampleBatch& out, const Registry::Contents& contents) {
  std::map<std::pair<std::string, std::uint8_t>, PortSums> ports;
  for (const Registry::Series& series : contents.series) {
    const TargetStats::Snapshot now = series.stats->snapshot();
    add_flow(out, series, now);
    PortSums& sums = ports[{series.device, series.port}];
    sums.add_counts(now);
    sums.add_session(now);
  }
  for (const Registry::Series& series : contents.rotating)
    ports[{series.device, series.port}].add_session(series.stats->snapshot());
  for (const auto& [port, sums] : ports)
    add_port(out, render_labels({{"device", port.first}, {"port", std::to_string(port.second)}}), sums);
}

void add_rtt(core::SampleBatch& out, const Registry::RttSeries& series) {
  const std::string port = series.device.empty() ? "" : std::to_string(series.port);
  for (const auto& [op, clock] : kRtts) {
    const auto& histogram = clock == RttClock::nic ? series.histograms.nic_read
                                                   : series.histograms.rtt[static_cast<std::size_t>(op)];
    if (!histogram) continue;
    auto data = histogram->data();
    // The first READ shows whether there are any at all, and which clock measures them.
    if (op == Op::read && data.count() == 0) continue;
    const std::string labels = render_labels({{"device", series.device},
                                              {"port", port},
                                              {"target", series.target},
                                              {"target_group", series.group},
                                              {"op", to_string(op)},
                                              {"clock", to_string(clock)}});
    out.add(kRtt, labels, std::move(data));
  }
  if (!series.target.empty()) return;
  const std::string owner =
      render_labels({{"device", series.device}, {"port", port}, {"target_group", series.group}});
  if (series.histograms.cold) out.add(kColdRtt, owner, series.histograms.cold->data());
  if (series.histograms.responder_delay)
    out.add(kResponderDelay, owner, series.histograms.responder_delay->data());
  for (std::size_t step = 0; step < kConnectSteps.size(); ++step) {
    const auto& histogram = series.histograms.connect[step];
    if (!histogram) continue;
    std::string labels = owner;
    core::append_label(labels, "step", kConnectSteps[step]);
    out.add(kConnectTime, labels, histogram->data());
  }
}

void add_nic(core::SampleBatch& out, const NicStats& nic, unsigned limit, bool responder) {
  const std::string owner = render_labels({{"device", nic.device}});
  for (const auto& [role, count] : {std::pair("requester", nic.queue_pairs->requester.load()),
                                    std::pair("responder", nic.queue_pairs->responder.load())}) {
    std::string labels = owner;
    core::append_label(labels, "role", role);
    out.add(kQps, labels, std::uint64_t{count});
  }
  out.add(kQpsLimit, owner, std::uint64_t{limit});
  out.add(kRate, owner, nic.rate_multiplier.load());
  for (const auto& [event, count] : nic.events.get()) {
    std::string labels = owner;
    core::append_label(labels, "event", event);
    out.add(kAsyncEvents, labels, count);
  }
  if (!responder) return;
  out.add(kInbound, owner, std::uint64_t{nic.inbound_sessions});
  out.add(kEchoReplies, owner, nic.echo_replies.load());
}

void add_place(core::SampleBatch& out, const Registry::Place& place) {
  out.add(kTargetInfo,
          render_labels({{"device", place.device},
                         {"port", std::to_string(place.port)},
                         {"target", place.target},
                         {"target_group", place.group},
                         {"target_leaf", place.leaf},
                         {"target_rail", place.rail}}),
          std::uint64_t{1});
}

void add_source(core::SampleBatch& out, const discovery::SourceStatus& source) {
  const std::string owner = render_labels({{"kind", source.kind}, {"source", source.name}});
  if (source.known) out.add(kSdTargets, owner, std::uint64_t{source.targets});
  if (source.last_success != 0) out.add(kSdLastSuccess, owner, source.last_success);
  auto failures = source.failures;
  failures.try_emplace("parse", 0);  // present from the first scrape on
  for (const auto& [reason, count] : failures) {
    std::string labels = owner;
    core::append_label(labels, "reason", reason);
    out.add(kSdFailures, labels, count);
  }
}

}  // namespace

void Registry::publish(Contents contents) {
  const std::lock_guard lock(mutex_);
  contents.refused = std::move(contents_.refused);
  contents.suspended = contents_.suspended;
  contents.sources = std::move(contents_.sources);
  contents_ = std::move(contents);
}

void Registry::publish_inbound(std::map<std::string_view, std::uint64_t> refused, std::size_t suspended) {
  const std::lock_guard lock(mutex_);
  contents_.refused = std::move(refused);
  contents_.suspended = suspended;
}

void Registry::publish_sources(std::vector<discovery::SourceStatus> sources) {
  const std::lock_guard lock(mutex_);
  contents_.sources = std::move(sources);
}

Registry::Contents Registry::contents() const {
  const std::lock_guard lock(mutex_);
  return contents_;
}

void Registry::add(core::SampleBatch& out) const {
  std::unique_lock lock(mutex_);
  if (!contents_.active) return;  // before the copy, which is much code: most hosts have no probe
  Contents now = contents_;
  lock.unlock();
  add_targets(out, now);
  for (const RttSeries& series : now.rtts) add_rtt(out, series);
  for (const Place& place : now.places) add_place(out, place);
  for (const auto& nic : now.nics) add_nic(out, *nic, now.queue_pairs_limit, now.responder);
  for (const auto& [state, count] :
       {std::pair("active", now.active_targets), std::pair("dropped", now.dropped_targets)})
    out.add(kTargets, render_labels({{"state", state}}), count);
  if (now.mesh_member) out.add_flag(kMeshMember, "", *now.mesh_member);
  for (const auto& source : now.sources) add_source(out, source);
  if (!now.responder) return;
  out.add(kInboundSuspended, "", std::uint64_t{now.suspended});
  now.refused.try_emplace("tls", 0);
  for (const auto& [reason, count] : now.refused)
    out.add(kInboundRejected, render_labels({{"reason", reason}}), count);
}

std::vector<const core::MetricDesc*> Registry::families() { return {kFamilies.begin(), kFamilies.end()}; }

}  // namespace rdma_exporter::probe
