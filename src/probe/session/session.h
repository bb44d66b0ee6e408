// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <optional>
#include <vector>

#include "probe/rdma/connection/rc_timing.h"
#include "probe/session/backoff.h"
#include "probe/session/operation.h"

namespace rdma_exporter::probe {

/// The connection of a session to its peer, as the session sees it. No call blocks, and none calls the
/// session from inside: what comes of it is told to the session later.
class Endpoint {
 public:
  virtual ~Endpoint() = default;
  /// Everything anew: address, side channel, queue pairs, for `one_sided` and echoes. Answered by
  /// Session::connected() or connect_failed(), once, unless close() comes first.
  virtual void connect(std::optional<Op> one_sided) = 0;
  /// Answered by Session::completed(), unless close() comes first. Returns 0 or an errno value.
  virtual int post(Op op) = 0;
  /// post(op) brings its own warm-up.
  virtual bool paired(Op /*op*/) const { return false; }
  /// Ends the connection or the attempt. Queue pairs are destroyed, never used again.
  virtual void close() = 0;
};

/// Where results go.
class Recorder {
 public:
  virtual ~Recorder() = default;
  virtual void attempt(Op op) = 0;
  virtual void success(Op op, const Completion& completion) = 0;
  virtual void failure(Op op, const Failure& failure) = 0;
  /// A tick at which the operation before was still out: neither success nor failure.
  virtual void overrun(Op op) = 0;
  /// The peer takes no one-sided operation: from now on there are only echoes.
  virtual void only_echoes() {}
};

/// One prober's relation to one peer over one flow: decides what is posted when, what counts, and when to
/// connect again. Pure: no clock of its own, no thread, no I/O. Every call is made by one thread.
///
///     idle -> connecting -> up -> backoff -> connecting ...
///
/// Rules. Every tick is an attempt, with or without a connection, so that a loss ratio never becomes 0/0;
/// each attempt becomes one success or one failure. While there is no connection the failure is what keeps it
/// away. After any error there is a new connection with new queue pairs. The pause before it grows until an
/// operation succeeds: a connection alone proves nothing, its frames may go through another network.
class Session {
 public:
  enum class State : unsigned char { idle, connecting, up, backoff };

  struct Settings {
    std::vector<Op> one_sided{Op::write, Op::read};  ///< the first that the peer takes; empty: only echoes
    bool warm_up =
        true;          ///< an unrecorded operation ahead of each one-sided one, for caches and sleep states
    bool echo = true;  ///< there are echoes too: they are what is left where the peer takes nothing else
    RcTiming timing{};
  };

  Session(Settings settings, Endpoint& endpoint, Recorder& recorder, Random random);

  State state() const { return state_; }
  /// The one-sided operation in use; nullopt: the peer takes none.
  std::optional<Op> one_sided() const;

  /// Connects if it is time to. Call at next_step() and after everything else.
  void step(Clock::time_point now);
  /// A tick of the schedule, for the one-sided operation or for the echo.
  void tick_one_sided(Clock::time_point now);
  void tick_echo(Clock::time_point now);
  /// When step() has something to do next; nullopt: it waits for an event.
  std::optional<Clock::time_point> next_step() const;

  void connected(Clock::time_point now);
  /// `cap`: of the pause, Backoff::kCap or kLongCap.
  void connect_failed(Clock::time_point now, const Failure& failure,
                      std::chrono::seconds cap = Backoff::kCap);
  void completed(Op op, const Completion& completion, Clock::time_point now);
  /// The lease is over or this host's port changed: the connection is no longer worth having.
  void disturbed(Clock::time_point now, const Failure& cause);
  /// What kept the connection away may be gone (port active again): the next attempt is due within a second.
  void hurry(Clock::time_point now);
  /// For good: nothing is connected, posted or counted any more.
  void stop();

 private:
  // One operation at a time on each of the two queue pairs.
  struct Slot {
    bool busy = false;
    bool warming = false;
    bool flushed = false;  // the queue pair is dead, and its cause may still be on the way
    Clock::time_point deadline;
  };

  void tick(Op op, Clock::time_point now);
  void post(Op op, bool warming, Clock::time_point now);
  void failed(Op op, const Failure& failure, Clock::time_point now);
  void drop(Clock::time_point now, const Failure& cause, std::chrono::seconds cap);
  void expire(Clock::time_point now);
  void flushed(Op op, Clock::time_point now);
  void fall_back(Clock::time_point now);
  Slot& slot(Op op) { return op == Op::echo ? echo_ : one_sided_slot_; }
  bool due(Clock::time_point now) const { return !due_ || *due_ <= now; }

  const Settings settings_;
  Endpoint& endpoint_;
  Recorder& recorder_;
  Backoff backoff_;
  State state_ = State::idle;
  bool stopped_ = false;
  Failure cause_{Stage::control, kNotConnected};  // what ticks without a connection are counted as
  std::optional<Clock::time_point> due_;          // of the next attempt to connect
  std::size_t candidate_ = 0;                     // of settings_.one_sided
  bool proven_ = false;                           // the candidate has worked on this connection
  Slot one_sided_slot_;
  Slot echo_;
};

}  // namespace rdma_exporter::probe
