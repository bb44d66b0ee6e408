// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>

#include "core/text/pattern.h"

namespace rdma_exporter::collectors {

/// How often PFC pause times are read, which costs an adapter dozens of firmware accesses under the lock of
/// all interfaces.
enum class BurstPause : unsigned char {
  automatic,  ///< once a second, and in each window for half a minute after a pause or a storm was seen
  off,
  always,  ///< in each window
};

/// Settings of the collector `burst`.
struct BurstSettings {
  std::chrono::milliseconds window{100};
  core::Pattern devices{};  ///< whole names of RDMA devices; unset: all
  BurstPause pause = BurstPause::automatic;
  unsigned max_cpu_percent = 1;  ///< in percent of one CPU, for all threads together
  bool live = true;              ///< false: a single collection, which has no windows
};

}  // namespace rdma_exporter::collectors
