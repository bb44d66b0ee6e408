// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/rdma/connection/rc_endpoint.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "log/log.h"
#include "probe/rdma/verbs/wc_status.h"

namespace rdma_exporter::probe {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

// Time between two polls of a loop that has nothing else to do.
constexpr nanoseconds kUnnoticed = 10us;

}  // namespace

RcEndpoint::RcEndpoint(DeviceLoop& loop, Workers& workers, Connector& connector)
    : loop_(loop), workers_(workers), connector_(connector), alive_(std::make_shared<Alive>(Alive{this})) {}

RcEndpoint::~RcEndpoint() {
  alive_->endpoint = nullptr;
  close();
}

void RcEndpoint::connect(std::optional<Op> one_sided) {
  const std::uint64_t attempt = ++attempt_;
  auto done = [&loop = loop_, &workers = workers_, alive = alive_, attempt](Answer answer) {
    // Moved on, never copied: the last reference must not be dropped on the loop, because destroying blocks.
    loop.post([&workers, owner = loop.owner(), alive, attempt,
               held = std::make_shared<Answer>(std::move(answer))]() mutable {
      if (alive->endpoint != nullptr && alive->endpoint->answered(attempt, *held)) return;
      workers.post([late = std::move(held)] {}, owner);
    });
  };
  const auto tell = [&loop = loop_, alive = alive_, attempt](auto what) {
    return [&loop, alive, attempt, what](Failure cause) {
      loop.post([alive, attempt, what, cause] {
        RcEndpoint* endpoint = alive->endpoint;
        if (endpoint == nullptr || endpoint->attempt_ != attempt) return;
        what(*endpoint->session_, cause);
        endpoint->told();
      });
    };
  };
  connector_.connect(
      one_sided, std::move(done),
      {tell([](Session& session, const Failure& cause) { session.interrupted(cause); }),
       tell([](Session& session, const Failure& cause) { session.disturbed(Clock::now(), cause); })});
}

bool RcEndpoint::answered(std::uint64_t attempt, Answer& answer) {
  if (attempt != attempt_) return false;
  const Clock::time_point now = Clock::now();
  if (!answer) {
    session_->connect_failed(now, answer.error().failure, answer.error().cap);
    told();
    return true;
  }
  connection_ = std::exchange(*answer, {});
  echo_answered_ = echo_number_;
  loop_.attach(connection_.pair->serial, *this);
  session_->connected(now);
  told();
  return true;
}

int RcEndpoint::post(Op op) {
  if (!connection_.pair) return ENOTCONN;
  QpPair& pair = *connection_.pair;
  Flight& out = flight(op);
  // The peer has this many receives, and posts one again when it answers.
  if (op == Op::echo && echo_number_ - echo_answered_ >= VerbsQp::kReceives) return EAGAIN;
  out.posted = Clock::now();
  spins_ = true;
  loop_.spin(&out, out.posted + out.window.next());
  if (op != Op::echo) {
    if (!pair.one_sided) return ENOTCONN;
    if (paired(op))
      return pair.one_sided->post_read_pair(DeviceLoop::work_id(pair.serial, kFirstReadWork),
                                            DeviceLoop::work_id(pair.serial, kSecondReadWork));
    const std::uint8_t kind = op == Op::read ? kReadWork : kWriteWork;
    return pair.one_sided->post_one_sided(op == Op::read, DeviceLoop::work_id(pair.serial, kind));
  }
  if (!pair.echo) return ENOTCONN;
  const EchoMessage message{++echo_number_, false, {}};
  return pair.echo->post_send(encode_echo(message), DeviceLoop::work_id(pair.serial, kSendWork));
}

bool RcEndpoint::paired(Op op) const {
  return op == Op::read && connection_.pair && connection_.pair->clock() == RttClock::nic;
}

void RcEndpoint::close() {
  ++attempt_;
  // The loop may end before an endpoint that has been closed.
  if (std::exchange(spins_, false)) {
    loop_.end_spin(&one_sided_);
    loop_.end_spin(&echo_);
  }
  if (!connection_.pair) return connector_.cancel();
  loop_.detach(connection_.pair->serial);
  workers_.post([gone = std::exchange(connection_, {})] {}, loop_.owner());
}

Completion RcEndpoint::measure(Op op, const DeviceLoop::Seen& seen) {
  Flight& out = flight(op);
  Completion completion;
  completion.rtt = seen.time - out.posted;
  completion.slept = seen.sleep > out.posted;
  // It may have arrived right after the last poll that did not find it.
  const nanoseconds away = seen.time - std::max(seen.empty, out.posted);
  completion.preempted = !completion.slept && away > kUnnoticed && 4 * away > completion.rtt;
  out.window.saw(completion.rtt, completion.slept);
  loop_.end_spin(&out);
  return completion;
}

void RcEndpoint::completion(std::uint8_t kind, const WorkCompletion& completion,
                            const DeviceLoop::Seen& seen) {
  if (completion.status != kWcSuccess) log_failure(completion);
  handle(kind, completion, seen);
  told();
}

void RcEndpoint::log_failure(const WorkCompletion& completion) {
  const bool everyday = completion.status == kWcFlushed || completion.status == kWcRetryExceeded;
  const std::pair said(completion.status, completion.vendor_error);
  if (everyday || std::exchange(logged_, said) == said) return;
  log::warn("an operation of the probe failed", {{"device", loop_.device()->name()},
                                                 {"peer", address_text(connection_.peer.gid)},
                                                 {"status", std::string(wc_status_name(completion.status))},
                                                 {"vendor_error", std::to_string(completion.vendor_error)}});
}

void RcEndpoint::handle(std::uint8_t kind, const WorkCompletion& completion, const DeviceLoop::Seen& seen) {
  if (kind >= kReceiveWork) return received(kind - kReceiveWork, completion, seen);
  const bool ok = completion.status == kWcSuccess;
  if (kind == kSendWork) {
    // An echo that has arrived does not count yet; its answer does.
    if (!ok) session_->completed(Op::echo, {.status = completion.status, .peer_delay = {}}, seen.time);
    return;
  }
  if (ok && kind == kFirstReadWork) {
    one_sided_.first_end = completion.stamp;
    return;
  }
  if (ok && kind == kSecondReadWork) return pair_completed(completion.stamp, seen);
  const Op op = kind == kWriteWork ? Op::write : Op::read;
  Completion result;
  if (ok) result = measure(op, seen);
  result.status = completion.status;
  session_->completed(op, result, seen.time);
}

void RcEndpoint::pair_completed(std::uint64_t second_end, const DeviceLoop::Seen& seen) {
  Completion result = measure(Op::read, seen);
  const auto rtt =
      second_round_trip(*connection_.pair->one_sided->clock(), one_sided_.first_end, second_end, result.rtt);
  if (!rtt) {
    loop_.distrust_clock();
    return session_->disturbed(seen.time, {Stage::local, kBadClock});
  }
  result.rtt = *rtt;
  result.clock = RttClock::nic;
  result.slept = result.preempted = false;  // both had ended before
  session_->completed(Op::read, result, seen.time);
}

void RcEndpoint::received(unsigned slot, const WorkCompletion& completion, const DeviceLoop::Seen& seen) {
  if (completion.status != kWcSuccess)
    return session_->completed(Op::echo, {.status = completion.status, .peer_delay = {}}, seen.time);
  std::optional<EchoMessage> message;
  if (completion.bytes == kEchoSize) message = decode_echo(connection_.pair->echo->received(slot));
  connection_.pair->echo->post_receive(slot, completion.id);
  if (!message || !message->answer) return;
  // An answer that is too late does not count as one, but shows that the peer has received what preceded it.
  const std::uint32_t out = echo_number_ - echo_answered_;
  if (message->number - echo_answered_ - 1 >= out) return;
  echo_answered_ = message->number;
  if (message->number != echo_number_) return;
  Completion result = measure(Op::echo, seen);
  result.peer_delay = message->delay;
  session_->completed(Op::echo, result, seen.time);
}

}  // namespace rdma_exporter::probe
