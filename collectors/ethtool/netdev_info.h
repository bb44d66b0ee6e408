// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <memory>
#include <string>

#include "collectors/refresh_timer.h"
#include "core/job.h"
#include "core/metric.h"
#include "host/host.h"
#include "host/topology/netdev.h"

namespace rdma_exporter::collectors {

extern const core::MetricDesc kNetdevInfo;

/// rdma_netdev_info of one network interface: who it is, and which others share its wire. One thread at a
/// time.
class NetdevInfo {
 public:
  /// `host.ethtool` is there.
  NetdevInfo(host::Host& host, std::shared_ptr<const host::Netdev> netdev);
  void add(core::JobRun& run);

 private:
  void refresh(core::JobRun& run);

  host::Host& host_;
  const std::shared_ptr<const host::Netdev> netdev_;
  RefreshTimer timer_;
  std::string labels_;
};

}  // namespace rdma_exporter::collectors
