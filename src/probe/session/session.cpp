// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/session/session.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/result.h"
#include "probe/rdma/verbs/wc_status.h"

namespace rdma_exporter::probe {
namespace {

// Completions of one queue pair may be seen before those of another that name the cause.
constexpr std::chrono::milliseconds kWaitForCause{20};

Stage stage_of(Op op) { return op == Op::echo ? Stage::echo : Stage::op; }

}  // namespace

Session::Session(Settings settings, Endpoint& endpoint, Recorder& recorder, Random random)
    : settings_(std::move(settings)),
      endpoint_(endpoint),
      recorder_(recorder),
      backoff_(random),
      echo_backoff_(std::move(random)) {}

std::optional<Op> Session::one_sided() const {
  if (candidate_ >= settings_.one_sided.size()) return std::nullopt;
  return settings_.one_sided[candidate_];
}

void Session::step(Clock::time_point now) {
  if (state_ == State::up) {
    expire(now);
    return renew(now);
  }
  if (stopped_ || state_ == State::connecting || !due(now)) return;
  state_ = State::connecting;
  endpoint_.connect(one_sided());
}

std::optional<Clock::time_point> Session::next_step() const {
  if (stopped_ || state_ == State::connecting) return std::nullopt;
  if (state_ != State::up) return due_.value_or(Clock::time_point::min());
  std::optional<Clock::time_point> next;
  for (const Slot* slot : {&one_sided_slot_, &echo_})
    if (slot->busy && (!next || slot->deadline < *next)) next = slot->deadline;
  if (renewal_ && !one_sided_slot_.busy && !echo_.busy && (!next || *renewal_ < *next)) next = renewal_;
  return next;
}

void Session::tick_one_sided(Clock::time_point now) {
  if (const auto op = one_sided()) tick(*op, now);
}

void Session::tick_echo(Clock::time_point now) { tick(Op::echo, now); }

void Session::tick(Op op, Clock::time_point now) {
  if (stopped_) return;
  if (state_ == State::up) expire(now);
  if (state_ != State::up && of_control(cause_.stage)) return recorder_.unsent(op, cause_);
  if (slot(op).busy) return recorder_.overrun(op);
  recorder_.attempt(op);
  if (state_ != State::up) return recorder_.failure(op, cause_);
  if (slot(op).dead) return recorder_.failure(op, {stage_of(op), kNotConnected});
  // The process that answers an echo has slept in between, so another echo cannot keep its part of the path
  // warm.
  post(op, settings_.warm_up && op != Op::echo && !endpoint_.paired(op), now);
}

void Session::post(Op op, bool warming, Clock::time_point now) {
  slot(op) = {true, warming, false, false, now + operation_deadline(settings_.timing)};
  const int error = endpoint_.post(op);
  if (error == 0) return;
  if (error != EAGAIN) return failed(op, {Stage::local, core::errno_name(error)}, now);
  slot(op).busy = false;
  recorder_.failure(op, {stage_of(op), kDeadline});
}

void Session::completed(Op op, const Completion& completion, Clock::time_point now) {
  if (state_ != State::up) return;
  Slot& done = slot(op);
  if (op != Op::echo && refused(completion.status))
    return fall_back({Stage::op, wc_status_name(completion.status)}, now);
  if (completion.status == kWcFlushed) return flushed(op, now);
  if (completion.status != kWcSuccess)
    return failed(op, {stage_of(op), wc_status_name(completion.status)}, now);
  if (!done.busy) return;
  if (op != Op::echo) proven_ = true;
  if (std::exchange(done.warming, false)) {
    recorder_.warmed_up(op, completion);
    return post(op, false, now);
  }
  done.busy = false;
  backoff_.reset();
  if (op == Op::echo) echo_backoff_.reset();
  recorder_.success(op, completion);
}

// The first completion that is not a flush names the cause, however late it arrives.
void Session::flushed(Op op, Clock::time_point now) {
  Slot& lost = slot(op);
  if (lost.dead) return;
  if (!lost.busy) return failed(op, {stage_of(op), kNotConnected}, now);
  lost.flushed = true;
  lost.deadline = std::min(lost.deadline, now + kWaitForCause);
}

void Session::failed(Op op, const Failure& failure, Clock::time_point now) {
  // A failed receive belongs to no operation of ours.
  if (std::exchange(slot(op).busy, false)) recorder_.failure(op, failure);
  if (op == Op::echo && one_sided()) return lost_echo(now);
  drop(now, {failure.stage, kNotConnected}, JitteredBackoff::kCap);
}

void Session::lost_echo(Clock::time_point now) {
  if (std::exchange(echo_.dead, true)) return;
  const Clock::time_point due = now + echo_backoff_.next(JitteredBackoff::kCap);
  renewal_ = std::min(renewal_.value_or(due), due);
}

// Between two operations, so that none of them is lost.
void Session::renew(Clock::time_point now) {
  const bool due = renewal_ && *renewal_ <= now && !one_sided_slot_.busy && !echo_.busy;
  if (state_ == State::up && due) reconnect(now);
}

void Session::reconnect(Clock::time_point now) {
  endpoint_.close();
  state_ = State::backoff;
  cause_ = {Stage::exchange, kNotConnected};
  due_ = now;
}

// Without a connection nothing can be outstanding: what was, fails with it. Unless it ends for want of the
// control connection, which says nothing of what was under way.
void Session::drop(Clock::time_point now, const Failure& cause, std::chrono::seconds cap) {
  endpoint_.close();
  state_ = State::backoff;
  cause_ = cause;
  const auto fail = [&](Op op) {
    of_control(cause.stage) ? recorder_.unsent(op, cause) : recorder_.failure(op, cause);
  };
  if (std::exchange(one_sided_slot_.busy, false))
    if (const auto op = one_sided()) fail(*op);
  if (std::exchange(echo_.busy, false)) fail(Op::echo);
  due_ = now + backoff_.next(cap);
}

void Session::expire(Clock::time_point now) {
  for (const Op op : {one_sided().value_or(Op::echo), Op::echo}) {
    if (state_ != State::up) return;
    Slot& late = slot(op);
    if (!late.busy || late.deadline > now) continue;
    if (op != Op::echo || late.flushed) {
      failed(op, {stage_of(op), late.flushed ? kNotConnected : kDeadline}, now);
      continue;
    }
    // Its answer may still arrive, or never: the queue pair is unaffected.
    late.busy = false;
    recorder_.failure(op, {stage_of(op), kDeadline});
  }
}

// Some adapters use another status for "invalid request", which may also mean something else. Such a status
// counts as a refusal once.
bool Session::refused(int status) const {
  if (proven_) return false;
  if (status == kWcInvalidRequest) return true;
  return !gave_way_ && (status == kWcAccessError || status == kWcGeneralError);
}

// The peer's adapter refuses the operation itself. That is an answer and not a failure of the path, but the
// queue pairs are dead.
void Session::fall_back(const Failure& refusal, Clock::time_point now) {
  gave_way_ = true;
  if (std::exchange(one_sided_slot_.busy, false)) recorder_.failure(*one_sided(), refusal);
  const bool exhausted = ++candidate_ == settings_.one_sided.size();
  if (settings_.echo) {
    backoff_.reset();
    if (exhausted) recorder_.only_echoes();
  } else if (exhausted) {
    // No operation is left that could work: an ordinary failure, after which the session starts over.
    candidate_ = 0;
    return drop(now, refusal, JitteredBackoff::kCap);
  }
  drop(now, {Stage::op, kNotConnected}, JitteredBackoff::kCap);
  if (settings_.echo) due_ = now;  // nothing has failed that a pause could mend
}

void Session::connected(Clock::time_point now) {
  if (state_ != State::connecting) return;
  state_ = State::up;
  proven_ = false;
  echo_.dead = false;
  renewal_.reset();
  due_ = now;
}

void Session::connect_failed(Clock::time_point now, const Failure& failure, std::chrono::seconds cap) {
  if (state_ == State::connecting) drop(now, failure, cap);
}

void Session::disturbed(Clock::time_point now, const Failure& cause) {
  if (state_ != State::up && state_ != State::connecting) return;
  candidate_ = 0;  // a peer that returns may be another version
  gave_way_ = false;
  drop(now, cause, JitteredBackoff::kCap);
}

void Session::interrupted(const Failure& cause) {
  if (state_ == State::up) recorder_.interrupted(cause);
}

void Session::readdressed(Clock::time_point now) {
  if (state_ == State::up)
    renewal_ = now;
  else if (state_ == State::connecting)
    reconnect(now);  // the attempt has already told the peer the old address
  else
    hurry(now);
}

void Session::hurry(Clock::time_point now) {
  if (state_ != State::backoff) return;
  backoff_.reset();
  due_ = now + backoff_.next(JitteredBackoff::kCap);
}

void Session::stop() {
  stopped_ = true;
  endpoint_.close();
  state_ = State::idle;
  one_sided_slot_ = echo_ = Slot{};
}

}  // namespace rdma_exporter::probe
