// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>

namespace rdma_exporter::collectors {

/// Settings of the collector `module`.
struct ModuleSettings {
  std::chrono::milliseconds interval{60'000};  ///< time between two reads of one module
  std::chrono::milliseconds first_wait{0};     ///< how long the first run waits for the first read (--once)
};

}  // namespace rdma_exporter::collectors
