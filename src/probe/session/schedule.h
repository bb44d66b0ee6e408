// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "probe/session/backoff.h"
#include "probe/session/operation.h"

// Schedules. Pure: the caller has the clock.
namespace rdma_exporter::probe {

/// Ticks of one period, each up to a tenth of it early or late, so that hosts that started together diverge.
/// Missed ticks are skipped.
class Ticker {
 public:
  /// `phase` in [0, 1): position in the first period.
  Ticker(std::chrono::nanoseconds period, double phase, Clock::time_point start)
      : period_(period), base_(start + scaled(phase)), next_(base_) {}

  Clock::time_point next() const { return next_; }
  /// True once per tick. `stretch` >= 1 makes the periods longer.
  bool due(Clock::time_point now, double stretch, const Random& random) {
    if (now < next_) return false;
    base_ += scaled(stretch);
    if (base_ <= now) base_ = now + scaled(stretch);
    next_ = std::max(base_ + scaled(stretch * 0.2 * (random() - 0.5)), now);
    return true;
  }

 private:
  std::chrono::nanoseconds scaled(double factor) const {
    return std::chrono::nanoseconds(
        static_cast<std::chrono::nanoseconds::rep>(static_cast<double>(period_.count()) * factor));
  }
  std::chrono::nanoseconds period_;
  Clock::time_point base_;  // without jitter
  Clock::time_point next_;
};

/// At most `rate` per second, with bursts of as many.
class TokenBucket {
 public:
  explicit TokenBucket(unsigned rate) : pause_(std::chrono::nanoseconds(std::chrono::seconds(1)) / rate) {}

  bool take(Clock::time_point now) {
    if (now < next()) return false;
    spent_until_ = std::max(spent_until_, now) + pause_;
    return true;
  }
  /// When the next token is available.
  Clock::time_point next() const { return spent_until_ - std::chrono::seconds(1) + pause_; }

 private:
  std::chrono::nanoseconds pause_;
  Clock::time_point spent_until_{};
};

/// Factor (>= 1) by which the periods have to be longer, so that `wanted` probes per second stay within
/// `most`.
inline double stretch_for(double wanted, unsigned most) { return std::max(1.0, wanted / most); }

}  // namespace rdma_exporter::probe
