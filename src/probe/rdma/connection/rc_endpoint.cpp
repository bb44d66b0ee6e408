// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/rdma/connection/rc_endpoint.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "probe/rdma/wc_status.h"

namespace rdma_exporter::probe {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

constexpr nanoseconds kMinSpin = 20us;
constexpr nanoseconds kMaxSpin = 200us;

// Twice the usual round trip. Where that is long, an interrupt and a wake-up change little, and spinning is
// in vain.
nanoseconds spin_time(nanoseconds usual) {
  return 2 * usual > kMaxSpin ? kMinSpin : std::max(2 * usual, kMinSpin);
}

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
    loop.post([&workers, alive, attempt, held = std::make_shared<Answer>(std::move(answer))]() mutable {
      if (alive->endpoint != nullptr && alive->endpoint->answered(attempt, *held)) return;
      workers.post([late = std::move(held)] {});
    });
  };
  auto lost = [&loop = loop_, alive = alive_, attempt](Failure cause) {
    loop.post([alive, attempt, cause] {
      RcEndpoint* endpoint = alive->endpoint;
      if (endpoint == nullptr || endpoint->attempt_ != attempt) return;
      endpoint->session_->disturbed(Clock::now(), cause);
    });
  };
  connector_.connect(one_sided, std::move(done), std::move(lost));
}

bool RcEndpoint::answered(std::uint64_t attempt, Answer& answer) {
  if (attempt != attempt_) return false;
  const Clock::time_point now = Clock::now();
  if (!answer) {
    session_->connect_failed(now, answer.error().failure, answer.error().cap);
    return true;
  }
  connection_ = std::exchange(*answer, {});
  loop_.attach(connection_.end->serial, *this);
  session_->connected(now);
  return true;
}

int RcEndpoint::post(Op op) {
  if (!connection_.end) return ENOTCONN;
  RcEnd& end = *connection_.end;
  Flight& out = flight(op);
  out.posted = Clock::now();
  loop_.spin_until(out.posted + spin_time(out.usual));
  if (op != Op::echo) {
    if (!end.one_sided) return ENOTCONN;
    if (paired(op))
      return end.one_sided->post_read_pair(DeviceLoop::work_id(end.serial, kFirstReadWork),
                                           DeviceLoop::work_id(end.serial, kSecondReadWork));
    const std::uint8_t kind = op == Op::read ? kReadWork : kWriteWork;
    return end.one_sided->post_one_sided(op == Op::read, DeviceLoop::work_id(end.serial, kind));
  }
  if (!end.echo) return ENOTCONN;
  const EchoMessage message{++echo_number_, false, {}};
  return end.echo->post_send(encode_echo(message), DeviceLoop::work_id(end.serial, kSendWork));
}

bool RcEndpoint::paired(Op op) const {
  return op == Op::read && connection_.end && connection_.end->clock() == RttClock::nic;
}

void RcEndpoint::close() {
  ++attempt_;
  if (!connection_.end) return connector_.cancel();
  loop_.detach(connection_.end->serial);
  workers_.post([gone = std::exchange(connection_, {})] {});
}

Completion RcEndpoint::measure(Op op, Clock::time_point seen, Clock::time_point sleep) {
  Flight& out = flight(op);
  Completion completion;
  completion.rtt = seen - out.posted;
  completion.slept = sleep > out.posted;
  out.usual = out.usual == 0ns ? completion.rtt : (7 * out.usual + completion.rtt) / 8;
  return completion;
}

void RcEndpoint::completion(std::uint8_t kind, const WorkCompletion& completion, Clock::time_point seen,
                            Clock::time_point sleep) {
  if (kind >= kReceiveWork) return received(kind - kReceiveWork, completion, seen, sleep);
  const bool ok = completion.status == kWcSuccess;
  if (kind == kSendWork) {
    // That an echo has arrived says nothing yet: its answer does.
    if (!ok) session_->completed(Op::echo, {.status = completion.status, .peer_delay = {}}, seen);
    return;
  }
  if (ok && kind == kFirstReadWork) {
    one_sided_.first_end = completion.stamp;
    return;
  }
  if (ok && kind == kSecondReadWork) return pair_completed(completion.stamp, seen, sleep);
  const Op op = kind == kWriteWork ? Op::write : Op::read;
  Completion result;
  if (ok) result = measure(op, seen, sleep);
  result.status = completion.status;
  session_->completed(op, result, seen);
}

void RcEndpoint::pair_completed(std::uint64_t second_end, Clock::time_point seen, Clock::time_point sleep) {
  Completion result = measure(Op::read, seen, sleep);
  const auto rtt =
      second_round_trip(*connection_.end->one_sided->clock(), one_sided_.first_end, second_end, result.rtt);
  if (!rtt) {
    loop_.distrust_clock();
    return session_->disturbed(seen, {Stage::local, kBadClock});
  }
  result.rtt = *rtt;
  result.clock = RttClock::nic;
  result.slept = false;  // after both had ended
  session_->completed(Op::read, result, seen);
}

void RcEndpoint::received(unsigned slot, const WorkCompletion& completion, Clock::time_point seen,
                          Clock::time_point sleep) {
  if (completion.status != kWcSuccess)
    return session_->completed(Op::echo, {.status = completion.status, .peer_delay = {}}, seen);
  const auto message =
      completion.bytes == kEchoSize ? decode_echo(connection_.end->echo->received(slot)) : std::nullopt;
  connection_.end->echo->post_receive(slot, completion.id);
  if (!message || !message->answer || message->number != echo_number_) return;
  Completion result = measure(Op::echo, seen, sleep);
  result.peer_delay = message->delay;
  session_->completed(Op::echo, result, seen);
}

}  // namespace rdma_exporter::probe
