// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace rdma_exporter::collectors {

/// Settings of the collector `resource`.
struct ResourceSettings {
  enum class Detail : std::uint8_t {
    automatic,  ///< where the kernel is known to be free of races with resource dumps
    on,
    off,
  };
  /// What resources are attributed to.
  enum class Owners : std::uint8_t { none, process, cgroup };

  Detail detail = Detail::automatic;
  std::chrono::seconds interval{60};          ///< between two passes over the tables of one device
  std::chrono::milliseconds timeout{10'000};  ///< of one pass
  std::size_t max_qps = 20'000;               ///< queue pairs are not dumped above it
  std::size_t max_entries = 200'000;          ///< nor any table that is longer
  Owners owners = Owners::cgroup;
  std::size_t owners_top = 20;              ///< owners named per device
  std::chrono::milliseconds first_wait{0};  ///< how long the first run waits for the first pass (--once)
};

}  // namespace rdma_exporter::collectors
