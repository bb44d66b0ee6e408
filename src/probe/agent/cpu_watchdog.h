// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <chrono>
#include <cstddef>

#include "probe/session/operation.h"

namespace rdma_exporter::probe {

/// Makes probes rarer on a host where they cost too much: production needs the processor more than the probe
/// does. Looks at the time that a thread has run once per kWindow, and goes one step down or up. Up only when
/// what that would cost is well within the limit, so that it does not swing. Never down to none: a host in
/// trouble is the one that is looked for. Pure: the caller has the clocks.
class CpuWatchdog {
 public:
  static constexpr std::chrono::seconds kWindow{10};
  static constexpr std::array kRates{1.0, 0.5, 0.25, 0.1};

  /// `most`: of one processor, in (0, 1].
  explicit CpuWatchdog(double most) : most_(most) {}

  /// When measure() is to be called; `now` begins the first window.
  bool due(Clock::time_point now);
  /// `cpu`: what the thread has run since it began. Ends the window and begins the next.
  void measure(Clock::time_point now, std::chrono::nanoseconds cpu);
  /// Of the configured rate, one of kRates.
  double rate() const { return kRates[step_]; }

 private:
  double most_;
  std::size_t step_ = 0;
  Clock::time_point begin_{};
  std::chrono::nanoseconds cpu_{};
};

}  // namespace rdma_exporter::probe
