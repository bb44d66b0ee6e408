// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>

namespace rdma_exporter::core {

/// A duration in seconds, the unit of metrics.
constexpr double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

/// The time of day, in seconds since 1970.
inline double seconds_since_epoch() { return seconds(std::chrono::system_clock::now().time_since_epoch()); }

}  // namespace rdma_exporter::core
