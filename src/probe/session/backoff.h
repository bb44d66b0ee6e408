// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <functional>
#include <utility>

namespace rdma_exporter::probe {

/// Uniform in [0, 1). Injected, so that tests control it.
using Random = std::function<double()>;

/// Pauses between attempts to connect: uniform in [0, min(cap, 1 s * 2^n)) after the nth consecutive failure
/// ("full jitter"), so that hosts that lost the same peer at the same time do not return at the same time.
class Backoff {
 public:
  static constexpr std::chrono::seconds kCap{60};
  static constexpr std::chrono::seconds kLongCap{300};  ///< after a refusal that a person has to resolve

  explicit Backoff(Random random) : random_(std::move(random)) {}

  std::chrono::nanoseconds next(std::chrono::seconds cap);
  /// Call after a success: the next pause is short again.
  void reset() { failures_ = 0; }

 private:
  Random random_;
  unsigned failures_ = 0;
};

}  // namespace rdma_exporter::probe
