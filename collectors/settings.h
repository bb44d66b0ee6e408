// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstddef>

#include "core/policy.h"
#include "core/text/pattern.h"

// What the configuration says to single collectors.
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

/// Settings of the collector `ethtool`, which reads driver statistics.
struct EthtoolOptions {
  std::chrono::milliseconds interval{10'000};  ///< shortest time between two reads of one interface
  /// Statistics without a curated name are exported if they match `raw_include` (unset: none) and do not
  /// match `raw_exclude`.
  core::Pattern raw_include{};
  core::Pattern raw_exclude{};
};

/// Settings of the collector `config_check`.
struct ConfigCheckSettings {
  std::chrono::milliseconds interval{60'000};  ///< time between two reads
  std::chrono::milliseconds first_wait{0};     ///< how long the first run waits for the first read
};

/// Settings of the collector `module`.
struct ModuleSettings {
  std::chrono::milliseconds interval{60'000};  ///< time between two reads of one module
  std::chrono::milliseconds first_wait{0};     ///< how long the first run waits for the first read (--once)
};

/// Settings of the collector `resource`.
struct ResourceSettings {
  using Detail = core::ResourceDetail;
  using Owners = core::ResourceOwners;

  Detail detail = Detail::automatic;
  std::chrono::seconds interval{60};          ///< between two passes over the tables of a device
  std::chrono::milliseconds timeout{10'000};  ///< of one pass
  std::size_t max_qps = 20'000;               ///< if there are more queue pairs, they are not dumped
  std::size_t max_entries = 200'000;          ///< longer tables are not dumped
  Owners owners = Owners::cgroup;
  std::size_t owners_top = 20;              ///< owners named per device
  std::chrono::milliseconds first_wait{0};  ///< how long the first run waits for the first pass (--once)
};

}  // namespace rdma_exporter::collectors
