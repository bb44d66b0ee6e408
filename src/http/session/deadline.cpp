// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "http/session/deadline.h"

#include <algorithm>
#include <utility>

namespace rdma_exporter::http {

Deadline::Deadline(const Executor& executor, Clock::duration shortest)
    : timer_(executor), shortest_(shortest) {}

void Deadline::start(std::function<void()> expired) {
  next_look_ = std::min(deadline_, Clock::now() + shortest_);
  timer_.expires_at(next_look_);
  wait(std::move(expired));
}

void Deadline::stop() {
  stopped_ = true;
  timer_.cancel();
}

void Deadline::set(Clock::duration from_now) {
  deadline_ = Clock::now() + from_now;
  if (deadline_ >= next_look_) return;
  next_look_ = deadline_;
  timer_.expires_at(next_look_);  // ends the wait under way; look() starts the next one
}

void Deadline::clear() { deadline_ = Clock::time_point::max(); }

void Deadline::wait(std::function<void()> expired) {
  timer_.async_wait([this, expired = std::move(expired)](const boost::system::error_code&) mutable {
    look(std::move(expired));
  });
}

// Whether the timer fired, was moved or was cancelled: what counts is the state now.
void Deadline::look(std::function<void()> expired) {
  if (stopped_) return;
  const auto now = Clock::now();
  if (now >= deadline_) {
    clear();
    expired();
    if (stopped_) return;
  }
  next_look_ = std::min(deadline_, now + shortest_);
  timer_.expires_at(next_look_);
  wait(std::move(expired));
}

}  // namespace rdma_exporter::http
