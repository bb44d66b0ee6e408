// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <functional>

#include "asio/socket.h"

namespace rdma_exporter::http {

/// The one deadline of a connection, which moves several times per request. Moving it costs a comparison,
/// while arming a timer would be a system call: the timer fires at least every `shortest`, checks, and sleeps
/// again. A deadline of `shortest` or more from now is therefore never before the timer's next check. Io
/// thread only.
class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  Deadline(const Executor& executor, Clock::duration shortest);

  /// Starts watching. `expired` is called once for each deadline that passes. The event loop holds it, with
  /// what it owns, until stop().
  void start(std::function<void()> expired);
  void stop();

  void set(Clock::duration from_now);
  /// Removes the deadline until the next set().
  void clear();

 private:
  void wait(std::function<void()> expired);
  void look(std::function<void()> expired);

  Timer timer_;
  Clock::duration shortest_;
  Clock::time_point deadline_ = Clock::time_point::max();
  Clock::time_point next_look_ = Clock::time_point::max();
  bool stopped_ = false;
};

}  // namespace rdma_exporter::http
