// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <algorithm>
#include <chrono>

#include "config/web/web_file.h"

namespace rdma_exporter::web {

/// Lets `burst` requests through at once and then one per interval; full at the start. Not thread-safe.
class TokenBucket {
 public:
  using Clock = std::chrono::steady_clock;

  explicit TokenBucket(const config::RateLimit& limit) : limit_(limit), tokens_(limit.burst) {}

  bool take(Clock::time_point now) {
    using Ratio = std::chrono::duration<double>;
    if (last_ != Clock::time_point()) tokens_ += Ratio(now - last_) / Ratio(limit_.interval);
    tokens_ = std::min(tokens_, double{1} * limit_.burst);
    last_ = now;
    if (tokens_ < 1) return false;
    tokens_ -= 1;
    return true;
  }

  const config::RateLimit& limit() const { return limit_; }

 private:
  config::RateLimit limit_;
  double tokens_;
  Clock::time_point last_{};
};

}  // namespace rdma_exporter::web
