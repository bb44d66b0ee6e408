// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/stats/registry.h"

#include <array>
#include <utility>

#include "core/labels.h"
#include "probe/stats/metric_table.h"

namespace rdma_exporter::probe {
namespace {

using core::render_labels;
using namespace families;

constexpr std::array<Op, kOps> kAllOps{Op::write, Op::read, Op::echo};
constexpr std::array kRtts{std::pair(Op::write, RttClock::host), std::pair(Op::read, RttClock::host),
                           std::pair(Op::read, RttClock::nic), std::pair(Op::echo, RttClock::host)};
constexpr std::array<std::string_view, 4> kStates{"idle", "connecting", "up", "backoff"};
// There from the first scrape on, so that the first failure is an increase.
constexpr Failure kAnticipated{Stage::op, "retry_exc_err"};
constexpr Failure kAnticipatedEcho{Stage::echo, kDeadline};

double seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

// `sum`: of several targets, which have no last and no least.
void add_op(core::SampleBatch& out, const std::string& owner, Op op, const OpStats& stats, bool sum) {
  std::string labels = owner;
  core::append_label(labels, "op", to_string(op));
  out.add(kAttempts, labels, stats.attempts);
  out.add(kOverruns, labels, stats.overruns);
  out.add(kRetransmits, labels, stats.retransmits);
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
  out.add(kLastRtt, labels, seconds(stats.last));
  out.add(kLastSuccess, labels, stats.last_success);
  if (const auto least = stats.least.get(Clock::now())) out.add(kMinRtt, labels, seconds(*least));
}

// The operation that says whether the path works.
const OpStats* deciding(const TargetStats::Snapshot& now) {
  for (const Op op : {Op::write, Op::read, Op::echo}) {
    const OpStats& stats = now.ops[static_cast<std::size_t>(op)];
    // A peer that takes no writes is measured with what comes next.
    const bool given_up =
        stats.successes == 0 && op != Op::echo && now.ops[static_cast<std::size_t>(op) + 1].successes != 0;
    if (stats.attempts != 0 && !given_up) return &stats;
  }
  return nullptr;
}

void add_target(core::SampleBatch& out, const Registry::Series& series) {
  const TargetStats::Snapshot now = series.stats->snapshot();
  const std::string owner = render_labels(
      {{"device", series.device}, {"port", std::to_string(series.port)}, {"target", series.target}});
  for (const Op op : kAllOps) {
    const OpStats& stats = now.ops[static_cast<std::size_t>(op)];
    if (stats.attempts != 0) add_op(out, owner, op, stats, series.target.empty());
  }
  out.add(kConnects, owner, now.connects);
  for (const auto& [wait, count] : {std::pair("spin", now.spun), std::pair("event", now.slept)}) {
    std::string labels = owner;
    core::append_label(labels, "wait", wait);
    out.add(kSamples, labels, count);
  }
  if (series.target.empty()) return;
  if (const OpStats* stats = deciding(now);
      stats != nullptr && (stats->successes != 0 || !stats->failures.empty()))
    out.add_flag(kUp, owner, stats->last_worked);
  const auto& one_sided = now.ops[now.ops[0].successes != 0 ? 0 : 1];
  const auto& echo = now.ops[static_cast<std::size_t>(Op::echo)];
  if (one_sided.successes != 0 && echo.successes != 0)
    out.add(kHostDelay, owner, seconds(echo.mean - one_sided.mean));
  for (std::size_t state = 0; state < kStates.size(); ++state) {
    std::string labels = owner;
    core::append_label(labels, "state", kStates[state]);
    out.add(kSessions, labels, std::uint64_t{now.states[state]});
  }
  if (!now.facts) return;
  std::string labels = owner;
  core::append_label(labels, "op", to_string(now.facts->op));
  core::append_label(labels, "clock", to_string(now.facts->clock));
  core::append_label(labels, "connect", now.facts->transport == Transport::rdma_cm ? "rdma_cm" : "verbs");
  core::append_label(labels, "path_mtu", now.facts->path_mtu == 0 ? "" : std::to_string(now.facts->path_mtu));
  core::append_label(labels, "udp_source_port",
                     now.facts->udp_source_port == 0 ? "" : std::to_string(now.facts->udp_source_port));
  core::append_label(labels, "local_address", now.facts->local_address);
  core::append_label(labels, "peer_address", now.facts->peer_address);
  core::append_label(labels, "peer_device", now.facts->peer_device);
  out.add(kSessionInfo, labels, std::uint64_t{1});
}

void add_rtt(core::SampleBatch& out, const Registry::RttSeries& series) {
  const std::string port = std::to_string(series.port);
  for (const auto& [op, clock] : kRtts) {
    const auto& histogram = clock == RttClock::nic ? series.histograms.nic_read
                                                   : series.histograms.rtt[static_cast<std::size_t>(op)];
    if (!histogram) continue;
    auto data = histogram->data();
    // Whether there are reads at all, and by which clock, the first one says.
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

void add_source(core::SampleBatch& out, const discovery::SourceStatus& source) {
  const std::string owner = render_labels({{"kind", source.kind}, {"source", source.name}});
  if (source.known) out.add(kSdTargets, owner, std::uint64_t{source.targets});
  if (source.last_success != 0) out.add(kSdLastSuccess, owner, source.last_success);
  auto failures = source.failures;
  failures.try_emplace("parse", 0);  // there from the first scrape on
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
  contents.sources = std::move(contents_.sources);
  contents_ = std::move(contents);
}

void Registry::publish_refused(std::map<std::string_view, std::uint64_t> refused) {
  const std::lock_guard lock(mutex_);
  contents_.refused = std::move(refused);
}

void Registry::publish_sources(std::vector<discovery::SourceStatus> sources) {
  const std::lock_guard lock(mutex_);
  contents_.sources = std::move(sources);
}

void Registry::add(core::SampleBatch& out) const {
  Contents now;
  {
    const std::lock_guard lock(mutex_);
    now = contents_;
  }
  if (!now.active) return;
  for (const Series& series : now.series) add_target(out, series);
  for (const RttSeries& series : now.rtts) add_rtt(out, series);
  for (const auto& nic : now.nics) add_nic(out, *nic, now.queue_pairs_limit, now.responder);
  for (const auto& [state, count] :
       {std::pair("active", now.active_targets), std::pair("dropped", now.dropped_targets)})
    out.add(kTargets, render_labels({{"state", state}}), count);
  for (const auto& source : now.sources) add_source(out, source);
  if (!now.responder) return;
  now.refused.try_emplace("tls", 0);
  for (const auto& [reason, count] : now.refused)
    out.add(kInboundRejected, render_labels({{"reason", reason}}), count);
}

std::vector<const core::MetricDesc*> Registry::families() { return {kFamilies.begin(), kFamilies.end()}; }

}  // namespace rdma_exporter::probe
