// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/result.h"
#include "host/ethtool/ethtool.h"
#include "host/events/changes.h"
#include "host/fs/fd.h"
#include "host/fs/host_fs.h"
#include "host/kernel_release.h"
#include "host/netlink/kept_netlink.h"
#include "host/netlink/netlink.h"
#include "host/verbs/verbs.h"

namespace rdma_exporter::host {

class EventReader;
class LldpFrames;

/// The seams through which everything about the host is read. Lives as long as the process; shared by all
/// jobs.
struct Host {
  /// These two are never nullptr. A recording or a tree without /proc has a procfs in which each read fails
  /// with ENOENT.
  std::unique_ptr<HostFs> sysfs;
  std::unique_ptr<HostFs> procfs;
  /// A new netlink conversation; nullptr if netlink is not used (a recording, a tree). Jobs use
  /// kept_netlink().
  std::function<std::unique_ptr<Netlink>(NetlinkProtocol)> make_netlink = [](NetlinkProtocol) {
    return nullptr;
  };
  /// Whether it is used: without it, what has no other source has no job.
  bool speaks(NetlinkProtocol protocol) const { return make_netlink(protocol) != nullptr; }
  /// nullptr if sysfs is not that of a running kernel.
  std::unique_ptr<Ethtool> ethtool = nullptr;
  /// nullptr if sysfs is not that of a running kernel.
  std::unique_ptr<Verbs> verbs = nullptr;
  /// device_nodes(). Empty if sysfs is not that of the running system: a tree has no device files.
  std::function<core::Result<std::vector<DeviceNode>>()> device_nodes = nullptr;
  OpenFileBudget open_files{16384};
  NetlinkSockets netlink_sockets = {};
  /// The kernel behind the seams.
  Kernel kernel = {};
  /// See resource_dumps_safe().
  bool resource_dumps_safe = false;
  /// What is known to have changed between two readings. Shared with the threads that read events.
  std::shared_ptr<Changes> changes = std::make_shared<Changes>();
  /// nullptr if nobody reads events: a recording, a tree, a single collection.
  std::shared_ptr<EventReader> events = nullptr;
  /// open_lldp_frames(). Empty if sysfs is not that of a running kernel.
  std::function<core::Result<std::unique_ptr<LldpFrames>>()> open_lldp_frames = nullptr;
};

}  // namespace rdma_exporter::host
