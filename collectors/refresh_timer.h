// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace rdma_exporter::collectors {

/// Says when facts that change rarely are to be read again. Each owner has its own phase (by hash of its
/// name), so that the devices of a host do not all refresh in the same scrape.
class RefreshTimer {
 public:
  using Clock = std::chrono::steady_clock;

  RefreshTimer(std::chrono::seconds interval, const std::string& owner)
      : interval_(interval * (80 + std::hash<std::string>{}(owner) % 41) / 100) {}

  /// True the first time, after reset(), and when the interval (80 to 120 % of the nominal one) is over.
  bool due(Clock::time_point now) {
    if (now < next_) return false;
    next_ = now + interval_;
    return true;
  }
  void reset() { next_ = {}; }

 private:
  Clock::duration interval_;
  Clock::time_point next_;
};

}  // namespace rdma_exporter::collectors
