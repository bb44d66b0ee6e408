// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/stats/target_stats.h"

#include <algorithm>
#include <utility>

#include "core/seconds.h"

namespace rdma_exporter::probe {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

using core::seconds;

// A lost packet appears as an unusual latency: RC sends it again after its ACK timeout.
bool looks_retransmitted(nanoseconds rtt, nanoseconds usual) {
  return usual != 0ns && rtt >= std::max<nanoseconds>(1ms, 20 * usual);
}

// Approximates a median in steps of a 16th, without storing values.
void follow(nanoseconds& median, nanoseconds value) {
  if (median == 0ns)
    median = value;
  else
    median += value > median ? median / 16 : -(median / 16);
}

}  // namespace

void RecentMinimum::add(nanoseconds value, Clock::time_point now) {
  const std::int64_t number = now.time_since_epoch() / kSlot;
  Slot& slot = slots_[static_cast<std::size_t>(number % kSlots)];
  if (slot.number != number) slot = {number, value};
  slot.least = std::min(slot.least, value);
}

std::optional<nanoseconds> RecentMinimum::get(Clock::time_point now) const {
  const std::int64_t number = now.time_since_epoch() / kSlot;
  std::optional<nanoseconds> least;
  for (const Slot& slot : slots_)
    if (slot.number >= 0 && slot.number > number - kSlots && (!least || slot.least < *least))
      least = slot.least;
  return least;
}

TargetStats::TargetStats(Path path, std::shared_ptr<Observer> observer)
    : path_(std::move(path)), observer_(std::move(observer)) {}

void TargetStats::attempt(Op op) {
  if (sum_) sum_->attempt(op);
  const std::lock_guard lock(mutex_);
  ++of(op).attempts;
  if (op != Op::echo) one_sided_ = true;
}

void TargetStats::overrun(Op op) {
  if (sum_) sum_->overrun(op);
  const std::lock_guard lock(mutex_);
  ++of(op).overruns;
}

void TargetStats::failure(Op op, const Failure& failure) {
  if (sum_) sum_->failure(op, failure);
  {
    const std::lock_guard lock(mutex_);
    ++of(op).failures[{failure.stage, failure.reason}];
    data_.last_failure = failure;
    came_to(op, false);
  }
  if (observer_) observer_->failure(path_, op, failure);
}

void TargetStats::unsent(Op op, const Failure& why) {
  if (sum_) sum_->interrupted(why);
  {
    const std::lock_guard lock(mutex_);
    ++data_.control_failures[{why.stage, why.reason}];
    data_.last_failure = why;
    came_to(op, false);
  }
  if (observer_) observer_->failure(path_, op, why);
}

void TargetStats::interrupted(const Failure& why) {
  if (sum_) sum_->interrupted(why);
  const std::lock_guard lock(mutex_);
  ++data_.control_failures[{why.stage, why.reason}];
  data_.last_failure = why;
}

// The one-sided operation says whether the path works, if the peer accepts one.
void TargetStats::came_to(Op op, bool worked) {
  if (op != Op::echo) one_sided_ = true;
  if (op != Op::echo || only_echoes_ || !one_sided_) data_.up = worked;
}

void TargetStats::warmed_up(Op op, const Completion& completion) {
  const std::lock_guard lock(mutex_);
  if (data_.histograms.cold) data_.histograms.cold->observe(seconds(completion.rtt));
  if (!looks_retransmitted(completion.rtt, of(op).usual)) return;
  ++of(op).retransmits;
  if (sum_) sum_->tally_warm_up(op);
}

void TargetStats::tally_warm_up(Op op) {
  const std::lock_guard lock(mutex_);
  ++of(op).retransmits;
}

void TargetStats::only_echoes() {
  {
    const std::lock_guard lock(mutex_);
    only_echoes_ = true;
  }
  if (observer_) observer_->only_echoes(path_);
}

// In a sum, each target knows what is usual for itself.
void TargetStats::tally(Op op, const Completion& completion, bool retransmitted) {
  const std::lock_guard lock(mutex_);
  ++of(op).successes;
  of(op).retransmits += retransmitted ? 1U : 0U;
  count_sample(completion);
}

void TargetStats::count_sample(const Completion& completion) {
  if (completion.slept)
    ++data_.slept;
  else
    ++(completion.preempted ? data_.preempted : data_.spun);
}

void TargetStats::success(Op op, const Completion& completion) {
  count(op, completion);
  if (observer_) observer_->success(path_, op, completion);
}

void TargetStats::count(Op op, const Completion& completion) {
  const std::lock_guard lock(mutex_);
  OpStats& stats = of(op);
  const nanoseconds rtt = completion.rtt;
  ++stats.successes;
  stats.last = rtt;
  if (op != Op::echo) only_echoes_ = false;  // the peer has returned as another version
  came_to(op, true);
  stats.last_success = core::seconds_since_epoch();
  stats.least.add(rtt, Clock::now());
  const bool retransmitted = looks_retransmitted(rtt, stats.usual);
  if (sum_) sum_->tally(op, completion, retransmitted);
  if (retransmitted)
    ++stats.retransmits;
  else
    stats.mean = stats.mean == 0ns ? rtt : (7 * stats.mean + rtt) / 8;
  follow(stats.usual, rtt);
  count_sample(completion);
  const auto& histogram = completion.clock == RttClock::nic
                              ? data_.histograms.nic_read
                              : data_.histograms.rtt[static_cast<std::size_t>(op)];
  if (histogram) histogram->observe(seconds(rtt));
  if (completion.peer_delay && data_.histograms.responder_delay)
    data_.histograms.responder_delay->observe(seconds(*completion.peer_delay));
}

void TargetStats::use(Histograms histograms) {
  const std::lock_guard lock(mutex_);
  data_.histograms = std::move(histograms);
}

void TargetStats::set_session(Session::State state, std::optional<SessionFacts> facts) {
  const std::lock_guard lock(mutex_);
  data_.state = state;
  data_.facts = std::move(facts);
}

void TargetStats::forget_session() {
  const std::lock_guard lock(mutex_);
  data_.state.reset();
  data_.facts.reset();
}

void TargetStats::count_connect() {
  if (sum_) sum_->count_connect();
  const std::lock_guard lock(mutex_);
  ++data_.connects;
}

void TargetStats::connected(const ConnectTimes& times) {
  const std::lock_guard lock(mutex_);
  for (std::size_t step = 0; step < times.size(); ++step)
    if (const auto& histogram = data_.histograms.connect[step]) histogram->observe(seconds(times[step]));
}

TargetStats::Snapshot TargetStats::snapshot() const {
  const std::lock_guard lock(mutex_);
  return data_;
}

}  // namespace rdma_exporter::probe
