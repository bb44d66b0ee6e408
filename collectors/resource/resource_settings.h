// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstddef>

#include "core/policy.h"

namespace rdma_exporter::collectors {

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
