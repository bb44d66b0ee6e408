// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/job.h"
#include "host/netlink/netlink.h"
#include "host/topology/device.h"
#include "task/schedule.h"

namespace rdma_exporter::collectors {

/// Which optional counters a port has, and which of them are enabled. Queried about once a minute: the query
/// needs no firmware command, and the set rarely changes. One thread at a time.
class OptionalCounters {
 public:
  OptionalCounters(const host::Device& device, std::uint32_t port);

  void run(host::Netlink& netlink, core::JobRun& run);

 private:
  void refresh(host::Netlink& netlink, core::JobRun& run);

  const std::string labels_;
  const std::vector<std::byte> request_;
  task::Schedule schedule_;
  std::vector<std::pair<std::string, bool>> counters_;  ///< labels, enabled
};

}  // namespace rdma_exporter::collectors
