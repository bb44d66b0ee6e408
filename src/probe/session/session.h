// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <optional>
#include <vector>

#include "probe/rdma/connection/rc_timing.h"
#include "probe/session/operation.h"
#include "probe/session/schedule.h"

namespace rdma_exporter::probe {

/// The connection of a session to its peer, as the session sees it. No call blocks, and none calls the
/// session directly: results are reported to the session later.
class Endpoint {
 public:
  virtual ~Endpoint() = default;
  /// Establishes everything again: address, control connection, queue pairs, for `one_sided` and echoes.
  /// Answered by Session::connected() or connect_failed(), once, unless close() comes first.
  virtual void connect(std::optional<Op> one_sided) = 0;
  /// Answered by Session::completed(), unless close() comes first. Returns 0 or an errno.
  virtual int post(Op op) = 0;
  /// Whether post(op) includes its own warm-up.
  virtual bool paired(Op /*op*/) const { return false; }
  /// Ends the connection or the attempt. Queue pairs are destroyed and never used again.
  virtual void close() = 0;
};

/// Receives results.
class Recorder {
 public:
  virtual ~Recorder() = default;
  virtual void attempt(Op op) = 0;
  virtual void success(Op op, const Completion& completion) = 0;
  virtual void failure(Op op, const Failure& failure) = 0;
  /// A tick at which the previous operation was still outstanding: neither success nor failure.
  virtual void overrun(Op op) = 0;
  /// The warm-up before the recorded operation, over an idle path and idle adapters.
  virtual void warmed_up(Op op, const Completion& completion) = 0;
  /// A tick at which nothing could be sent because of the control connection: not an attempt.
  virtual void unsent(Op op, const Failure& why) = 0;
  /// The control connection was interrupted; operations continue without it.
  virtual void interrupted(const Failure& why) = 0;
  /// The peer accepts no one-sided operation: from now on there are only echoes.
  virtual void only_echoes() {}
};

/// One prober's relation to one peer over one flow: decides what is posted when, what counts, and when to
/// reconnect. Pure: no clock, thread or I/O of its own. All calls come from one thread.
///
///     idle -> connecting -> up -> backoff -> connecting ...
///
/// Rules. Failures are the path's, or those of the two ports: every tick is an attempt also while there is no
/// connection because of one, so that a loss ratio never becomes 0/0. A tick without a connection for want of
/// the control connection is no attempt. An attempt becomes one success or one failure, or is given up with
/// the control connection.
///
/// An echo fails alone: the one-sided operation continues over its own queue pair as long as that works, and
/// the echo's queue pair returns with a new connection. After an error of the one-sided operation the session
/// reconnects at once. The pause before that grows until an operation succeeds: a connection alone proves
/// nothing, because its frames may use another network.
class Session {
 public:
  enum class State : unsigned char { idle, connecting, up, backoff };

  struct Settings {
    std::vector<Op> one_sided{Op::write, Op::read};  ///< the first that the peer accepts; empty: only echoes
    bool warm_up =
        true;          ///< an unrecorded operation ahead of each one-sided one, for caches and sleep states
    bool echo = true;  ///< there are echoes too: they are what is left where the peer takes nothing else
    RcTiming timing{};
  };

  Session(Settings settings, Endpoint& endpoint, Recorder& recorder, Random random);

  State state() const { return state_; }
  /// The current one-sided operation; nullopt: the peer accepts none.
  std::optional<Op> one_sided() const;

  /// Connects if it is time to. Call at next_step() and after every other call.
  void step(Clock::time_point now);
  /// A tick of the schedule, for the one-sided operation or the echo.
  void tick_one_sided(Clock::time_point now);
  void tick_echo(Clock::time_point now);
  /// When step() has to be called next; nullopt: it waits for an event.
  std::optional<Clock::time_point> next_step() const;

  void connected(Clock::time_point now);
  /// `cap`: of the pause, JitteredBackoff::kCap or kLongCap.
  void connect_failed(Clock::time_point now, const Failure& failure,
                      std::chrono::seconds cap = JitteredBackoff::kCap);
  void completed(Op op, const Completion& completion, Clock::time_point now);
  /// The lease is over, or this host's port changed: the connection is no longer useful.
  void disturbed(Clock::time_point now, const Failure& cause);
  /// The control connection was interrupted, and the peer holds its end until it is back.
  void interrupted(const Failure& cause);
  /// The address of this host's port has changed: the connection is replaced, between two operations.
  void readdressed(Clock::time_point now);
  /// The obstacle to a connection may be gone (port active again): the next attempt is due within a second.
  void hurry(Clock::time_point now);
  /// Permanently: nothing is connected, posted or counted any more.
  void stop();

 private:
  // One operation at a time on each of the two queue pairs.
  struct Slot {
    bool busy = false;
    bool warming = false;
    bool flushed = false;  // the queue pair is dead, and its cause may still arrive
    bool dead = false;     // the same, while the rest of the connection continues
    Clock::time_point deadline;
  };

  void tick(Op op, Clock::time_point now);
  void post(Op op, bool warming, Clock::time_point now);
  void failed(Op op, const Failure& failure, Clock::time_point now);
  void lost_echo(Clock::time_point now);
  void renew(Clock::time_point now);
  void reconnect(Clock::time_point now);
  void drop(Clock::time_point now, const Failure& cause, std::chrono::seconds cap);
  void expire(Clock::time_point now);
  void flushed(Op op, Clock::time_point now);
  bool refused(int status) const;
  void fall_back(const Failure& refusal, Clock::time_point now);
  Slot& slot(Op op) { return op == Op::echo ? echo_ : one_sided_slot_; }
  bool due(Clock::time_point now) const { return !due_ || *due_ <= now; }

  const Settings settings_;
  Endpoint& endpoint_;
  Recorder& recorder_;
  JitteredBackoff backoff_;
  JitteredBackoff echo_backoff_;
  State state_ = State::idle;
  bool stopped_ = false;
  Failure cause_{Stage::tcp, kNotConnected};  // how ticks without a connection are counted
  std::optional<Clock::time_point> due_;      // of the next attempt to connect
  std::optional<Clock::time_point> renewal_;  // when to replace a connection that still works in part
  std::size_t candidate_ = 0;                 // of settings_.one_sided
  bool proven_ = false;                       // the candidate has worked on this connection
  bool gave_way_ = false;                     // has fallen back: an ambiguous status is no refusal any more
  Slot one_sided_slot_;
  Slot echo_;
};

}  // namespace rdma_exporter::probe
