// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <algorithm>
#include <chrono>

namespace rdma_exporter::probe {

/// How long to poll for a completion before sleeping: twice the usual round trip. That is learnt only from
/// round trips seen while polling, because a sleep adds an interrupt and a wake-up, which would keep short
/// paths asleep forever. If even the longest window is too short, the path is so long that a wake-up matters
/// little: then the shortest window is used, and the longest one is tried from time to time. Pure.
class SpinWindow {
 public:
  static constexpr std::chrono::nanoseconds kMin = std::chrono::microseconds(20);
  static constexpr std::chrono::nanoseconds kMax = std::chrono::microseconds(200);

  /// The window for an operation that is posted now.
  std::chrono::nanoseconds next() {
    ++posts_;
    if (in_vain_ >= kGiveUpAfter)
      window_ = posts_ % kTryAgain == 0 ? kMax : kMin;
    else
      window_ = usual_ == std::chrono::nanoseconds(0) ? kMax : std::clamp(2 * usual_, kMin, kMax);
    return window_;
  }

  /// Records the result. `slept`: the round trip was longer than the window.
  void saw(std::chrono::nanoseconds rtt, bool slept) {
    if (!slept) {
      usual_ = usual_ == std::chrono::nanoseconds(0) || in_vain_ != 0 ? rtt : (7 * usual_ + rtt) / 8;
      in_vain_ = 0;
    } else if (window_ == kMax) {
      ++in_vain_;
    } else if (in_vain_ < kGiveUpAfter) {
      usual_ = std::max(usual_, window_);  // doubles the window
    }
  }

 private:
  static constexpr unsigned kGiveUpAfter = 8;  // windows
  static constexpr unsigned kTryAgain = 64;    // operations

  std::chrono::nanoseconds usual_{};
  std::chrono::nanoseconds window_ = kMax;
  unsigned in_vain_ = 0;
  unsigned posts_ = 0;
};

}  // namespace rdma_exporter::probe
