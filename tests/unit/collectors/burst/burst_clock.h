// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>

#include "collectors/burst/sampler/reader.h"

namespace rdma_exporter::collectors {

/// A clock that only the test moves. It begins at a whole second since 1970.
struct BurstTestClock {
  BurstClock::time_point now{std::chrono::seconds(1'000)};

  BurstTime time() {
    return {.now = [this] { return now; },
            .wall = [this] { return std::chrono::system_clock::time_point(now.time_since_epoch()); },
            .cpu = [] { return std::chrono::nanoseconds(0); }};
  }
};

}  // namespace rdma_exporter::collectors
