// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/session/schedule.h"

#include <algorithm>

namespace rdma_exporter::probe {
namespace {

constexpr double kWellWithin = 0.8;

}  // namespace

std::chrono::nanoseconds JitteredBackoff::next(std::chrono::seconds cap) {
  constexpr unsigned kNoFurther = 16;  // beyond every cap; keeps the shift well-defined
  const std::chrono::seconds longest = std::min(cap, std::chrono::seconds(1LL << failures_));
  failures_ = std::min(failures_ + 1, kNoFurther);
  return std::chrono::nanoseconds(
      static_cast<std::int64_t>(random_() * std::chrono::duration<double, std::nano>(longest).count()));
}

bool CpuWatchdog::due(Clock::time_point now) { return now >= begin_ + kWindow; }

void CpuWatchdog::measure(Clock::time_point now, std::chrono::nanoseconds cpu) {
  const std::chrono::duration<double> window = now - begin_;
  const std::chrono::duration<double> used = cpu - cpu_;
  const bool first = begin_ == Clock::time_point();
  begin_ = now;
  cpu_ = cpu;
  if (first) return;
  const double share = used / window;
  if (share > most_) {
    if (step_ + 1 < kRates.size()) ++step_;
  } else if (step_ > 0 && share * kRates[step_ - 1] / kRates[step_] <= kWellWithin * most_) {
    --step_;
  }
}

}  // namespace rdma_exporter::probe
