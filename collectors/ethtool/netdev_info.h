// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <memory>
#include <string>

#include "core/job.h"
#include "core/metric.h"
#include "host/host.h"
#include "host/topology/netdev.h"
#include "task/schedule.h"

namespace rdma_exporter::collectors {

extern const core::MetricDesc kNetdevInfo;

/// rdma_netdev_info of one network interface: its identity, and what shows which others share its wire. One
/// thread at a time.
class NetdevInfo {
 public:
  /// `host.ethtool` must not be null.
  NetdevInfo(host::Host& host, std::shared_ptr<const host::Netdev> netdev);
  void add(core::JobRun& run);

 private:
  void refresh(core::JobRun& run);

  host::Host& host_;
  const std::shared_ptr<const host::Netdev> netdev_;
  task::Schedule schedule_;
  std::string labels_;
};

}  // namespace rdma_exporter::collectors
