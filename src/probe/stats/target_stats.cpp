// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/stats/target_stats.h"

#include <algorithm>
#include <utility>

namespace rdma_exporter::probe {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

double seconds(nanoseconds time) { return std::chrono::duration<double>(time).count(); }

double seconds_since_epoch() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// A packet that was lost shows as a latency far from the usual: RC sends it again after its ACK timeout.
bool looks_retransmitted(nanoseconds rtt, nanoseconds usual) {
  return usual != 0ns && rtt >= std::max<nanoseconds>(1ms, 20 * usual);
}

// A median that follows in steps of a 16th and needs no memory.
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
    of(op).last_worked = false;
  }
  if (observer_) observer_->failure(path_, op, failure);
}

void TargetStats::only_echoes() {
  if (observer_) observer_->only_echoes(path_);
}

// Of a sum: one of its targets knows what is usual for it.
void TargetStats::tally(Op op, bool slept, bool retransmitted) {
  const std::lock_guard lock(mutex_);
  ++of(op).successes;
  of(op).retransmits += retransmitted ? 1U : 0U;
  ++(slept ? data_.slept : data_.spun);
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
  stats.last_worked = true;
  stats.last_success = seconds_since_epoch();
  stats.least.add(rtt, Clock::now());
  const bool retransmitted = looks_retransmitted(rtt, stats.usual);
  if (sum_) sum_->tally(op, completion.slept, retransmitted);
  if (retransmitted)
    ++stats.retransmits;
  else
    stats.mean = stats.mean == 0ns ? rtt : (7 * stats.mean + rtt) / 8;
  follow(stats.usual, rtt);
  ++(completion.slept ? data_.slept : data_.spun);
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

void TargetStats::set_session(unsigned flow, Session::State state, std::optional<SessionFacts> facts) {
  const std::lock_guard lock(mutex_);
  flows_[flow] = {state, std::move(facts)};
}

void TargetStats::forget_sessions() {
  const std::lock_guard lock(mutex_);
  flows_.clear();
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
  Snapshot copy = data_;
  for (const auto& [number, flow] : flows_) {
    ++copy.states[static_cast<std::size_t>(flow.state)];
    if (!copy.facts) copy.facts = flow.facts;
  }
  return copy;
}

}  // namespace rdma_exporter::probe
