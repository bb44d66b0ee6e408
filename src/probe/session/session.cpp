// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/session/session.h"

#include <algorithm>
#include <utility>

#include "core/text/errno_name.h"
#include "probe/rdma/wc_status.h"

namespace rdma_exporter::probe {
namespace {

// Completions of one queue pair may be seen before those of another that say why.
constexpr std::chrono::milliseconds kWaitForCause{20};

Stage stage_of(Op op) { return op == Op::echo ? Stage::echo : Stage::op; }

}  // namespace

Session::Session(Settings settings, Endpoint& endpoint, Recorder& recorder, Random random)
    : settings_(std::move(settings)), endpoint_(endpoint), recorder_(recorder), backoff_(std::move(random)) {}

std::optional<Op> Session::one_sided() const {
  if (candidate_ >= settings_.one_sided.size()) return std::nullopt;
  return settings_.one_sided[candidate_];
}

void Session::step(Clock::time_point now) {
  if (state_ == State::up) return expire(now);
  if (stopped_ || state_ == State::connecting || !due(now)) return;
  state_ = State::connecting;
  endpoint_.connect(one_sided());
}

std::optional<Clock::time_point> Session::next_step() const {
  if (stopped_) return std::nullopt;
  if (state_ == State::idle || state_ == State::backoff) return due_.value_or(Clock::time_point::min());
  std::optional<Clock::time_point> next;
  for (const Slot* slot : {&one_sided_slot_, &echo_})
    if (slot->busy && (!next || slot->deadline < *next)) next = slot->deadline;
  return next;
}

void Session::tick_one_sided(Clock::time_point now) {
  if (const auto op = one_sided()) tick(*op, now);
}

void Session::tick_echo(Clock::time_point now) { tick(Op::echo, now); }

void Session::tick(Op op, Clock::time_point now) {
  if (stopped_) return;
  if (state_ == State::up) expire(now);
  if (slot(op).busy) return recorder_.overrun(op);
  recorder_.attempt(op);
  if (state_ != State::up) return recorder_.failure(op, cause_);
  // An echo's answer is made by a process that sleeps: nothing on its way is kept warm by another echo.
  post(op, settings_.warm_up && op != Op::echo && !endpoint_.paired(op), now);
}

void Session::post(Op op, bool warming, Clock::time_point now) {
  slot(op) = {true, warming, false, now + operation_deadline(settings_.timing)};
  if (const int error = endpoint_.post(op); error != 0)
    failed(op, {Stage::local, core::errno_name(error)}, now);
}

void Session::completed(Op op, const Completion& completion, Clock::time_point now) {
  if (state_ != State::up) return;
  Slot& done = slot(op);
  if (completion.status == kWcInvalidRequest && op != Op::echo && !proven_) return fall_back(now);
  if (completion.status == kWcFlushed) return flushed(op, now);
  if (completion.status != kWcSuccess)
    return failed(op, {stage_of(op), wc_status_name(completion.status)}, now);
  if (!done.busy) return;
  if (op != Op::echo) proven_ = true;
  if (std::exchange(done.warming, false)) return post(op, false, now);
  done.busy = false;
  backoff_.reset();
  recorder_.success(op, completion);
}

// The first completion that is not of a flush names the cause, however late it comes.
void Session::flushed(Op op, Clock::time_point now) {
  Slot& lost = slot(op);
  if (!lost.busy) return drop(now, {stage_of(op), kNotConnected}, Backoff::kCap);
  lost.flushed = true;
  lost.deadline = std::min(lost.deadline, now + kWaitForCause);
}

void Session::failed(Op op, const Failure& failure, Clock::time_point now) {
  // A receive that failed has no operation of ours behind it.
  if (std::exchange(slot(op).busy, false)) recorder_.failure(op, failure);
  drop(now, {failure.stage, kNotConnected}, Backoff::kCap);
}

// Without a connection nothing can be outstanding: what was, fails with it.
void Session::drop(Clock::time_point now, const Failure& cause, std::chrono::seconds cap) {
  endpoint_.close();
  state_ = State::backoff;
  cause_ = cause;
  if (std::exchange(one_sided_slot_.busy, false))
    if (const auto op = one_sided()) recorder_.failure(*op, cause);
  if (std::exchange(echo_.busy, false)) recorder_.failure(Op::echo, cause);
  due_ = now + backoff_.next(cap);
}

void Session::expire(Clock::time_point now) {
  for (const Op op : {one_sided().value_or(Op::echo), Op::echo}) {
    if (state_ != State::up) return;
    const Slot& late = slot(op);
    if (late.busy && late.deadline <= now)
      failed(op, {stage_of(op), late.flushed ? kNotConnected : kDeadline}, now);
  }
}

// The peer's adapter refuses the operation itself. That is an answer and no failure of the path; the queue
// pairs are dead all the same.
void Session::fall_back(Clock::time_point now) {
  const Failure refusal{Stage::op, wc_status_name(kWcInvalidRequest)};
  if (std::exchange(one_sided_slot_.busy, false)) recorder_.failure(*one_sided(), refusal);
  const bool exhausted = ++candidate_ == settings_.one_sided.size();
  if (settings_.echo) {
    backoff_.reset();
    if (exhausted) recorder_.only_echoes();
  } else if (exhausted) {
    // Nothing is left that could work: a failure like any other, from which the session starts over.
    candidate_ = 0;
    return drop(now, refusal, Backoff::kCap);
  }
  drop(now, {Stage::op, kNotConnected}, Backoff::kCap);
}

void Session::connected(Clock::time_point now) {
  if (state_ != State::connecting) return;
  state_ = State::up;
  proven_ = false;
  due_ = now;
}

void Session::connect_failed(Clock::time_point now, const Failure& failure, std::chrono::seconds cap) {
  if (state_ == State::connecting) drop(now, failure, cap);
}

void Session::disturbed(Clock::time_point now, const Failure& cause) {
  if (state_ != State::up && state_ != State::connecting) return;
  candidate_ = 0;  // a peer that comes back may be another version
  drop(now, cause, Backoff::kCap);
}

void Session::hurry(Clock::time_point now) {
  if (state_ != State::backoff) return;
  backoff_.reset();
  due_ = now + backoff_.next(Backoff::kCap);
}

void Session::stop() {
  stopped_ = true;
  endpoint_.close();
  state_ = State::idle;
  one_sided_slot_ = echo_ = Slot{};
}

}  // namespace rdma_exporter::probe
