// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/session/backoff.h"

#include <algorithm>

namespace rdma_exporter::probe {

std::chrono::nanoseconds Backoff::next(std::chrono::seconds cap) {
  constexpr unsigned kNoFurther = 16;  // beyond every cap; keeps the shift well-defined
  const std::chrono::seconds longest = std::min(cap, std::chrono::seconds(1LL << failures_));
  failures_ = std::min(failures_ + 1, kNoFurther);
  return std::chrono::nanoseconds(
      static_cast<std::int64_t>(random_() * std::chrono::duration<double, std::nano>(longest).count()));
}

}  // namespace rdma_exporter::probe
