// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <algorithm>
#include <chrono>

namespace rdma_exporter::task {

/// A limit of a rate: up to `burst` at once, and then one per `interval`. Full at the start. It has no clock:
/// whoever takes tells the time, which never goes back. Not thread-safe.
class TokenBucket {
 public:
  using Clock = std::chrono::steady_clock;

  /// `burst` is at least 1.
  TokenBucket(Clock::duration interval, unsigned burst)
      : interval_(interval), saved_(interval * (burst - 1)) {}

  bool take(Clock::time_point now) {
    if (now < next()) return false;
    spent_until_ = std::max(spent_until_, now) + interval_;
    return true;
  }
  /// When take() will succeed again.
  Clock::time_point next() const { return spent_until_ - saved_; }

 private:
  Clock::duration interval_;
  Clock::duration saved_;  ///< how far ahead of the rate it may be spent
  Clock::time_point spent_until_{};
};

}  // namespace rdma_exporter::task
