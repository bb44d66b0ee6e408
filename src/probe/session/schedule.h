// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "probe/session/operation.h"

// When probes and connects are due. Pure: the caller has the clock.
namespace rdma_exporter::probe {

/// Uniform in [0, 1). Injected, so that tests control it.
using Random = std::function<double()>;

/// Pauses between attempts to connect: uniform in [0, min(cap, 1 s * 2^n)) after the nth consecutive failure
/// ("full jitter"), so that hosts that lost the same peer at the same time do not return at the same time.
class JitteredBackoff {
 public:
  static constexpr std::chrono::seconds kCap{60};
  static constexpr std::chrono::seconds kLongCap{300};  ///< after a refusal that a person has to resolve

  explicit JitteredBackoff(Random random) : random_(std::move(random)) {}

  std::chrono::nanoseconds next(std::chrono::seconds cap);
  /// Call after a success: the next pause is short again.
  void reset() { failures_ = 0; }

 private:
  Random random_;
  unsigned failures_ = 0;
};

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

/// Factor (>= 1) by which the periods have to be longer, so that `wanted` probes per second stay within
/// `most`.
inline double stretch_for(double wanted, unsigned most) { return std::max(1.0, wanted / most); }

/// Reduces the rate of probes on a host where they cost too much, because production needs the processor more
/// than the probe does. Measures the thread's CPU time once per kWindow and moves one step down or up. It
/// moves up only if the resulting cost is well within the limit, so that it does not oscillate. The rate
/// never becomes zero: probes matter most on a host in trouble. Pure: the caller has the clocks.
class CpuWatchdog {
 public:
  static constexpr std::chrono::seconds kWindow{10};
  static constexpr std::array kRates{1.0, 0.5, 0.25, 0.1};

  /// `most`: share of one processor, in (0, 1].
  explicit CpuWatchdog(double most) : most_(most) {}

  /// Whether to call measure() now; the first `now` starts the first window.
  bool due(Clock::time_point now);
  /// `cpu`: total CPU time of the thread. Ends the window and starts the next.
  void measure(Clock::time_point now, std::chrono::nanoseconds cpu);
  /// Share of the configured rate, one of kRates.
  double rate() const { return kRates[step_]; }

 private:
  double most_;
  std::size_t step_ = 0;
  Clock::time_point begin_{};
  std::chrono::nanoseconds cpu_{};
};

}  // namespace rdma_exporter::probe
