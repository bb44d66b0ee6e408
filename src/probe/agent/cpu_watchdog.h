// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <chrono>
#include <cstddef>

#include "probe/session/operation.h"

namespace rdma_exporter::probe {

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
