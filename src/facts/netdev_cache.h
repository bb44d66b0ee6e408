// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "facts/cached.h"
#include "facts/facts.h"
#include "host/ethtool/genl_ethtool.h"
#include "host/fs/host_fs.h"
#include "host/netlink/dcb.h"
#include "host/netlink/netlink.h"
#include "host/topology/netdev.h"

namespace rdma_exporter::facts {

/// A socket for generic netlink, and the number of ethtool's family there.
struct EthtoolNetlink {
  host::Netlink& netlink;
  std::uint16_t family;
};

/// The speed of a link, where it has one.
struct LinkSpeed {
  std::optional<double> bytes_per_second;
  std::optional<std::uint32_t> lanes;  ///< where the driver tells them
};

/// A switch of congestion control for one priority: MLNX_OFED only.
struct EcnSwitch {
  const char* role;
  std::uint32_t priority;
  Fact<std::string> text;
};

/// The facts of one registration of a network interface, as long as it has this name. Thread-safe; a call may
/// block for as long as the kernel or the driver's firmware takes.
class NetdevCache {
 public:
  explicit NetdevCache(const host::Netdev& netdev) : name_(netdev.name), path_(netdev.path) {}

  const std::string& name() const { return name_; }

  /// `route`: a socket for rtnetlink.
  Cached<Fact<host::dcb::Ieee>>::Value dcb(const Wanted& wanted, host::Netlink& route);
  Cached<Fact<LinkSpeed>>::Value speed(const Wanted& wanted, const EthtoolNetlink& ethtool);
  Cached<Fact<host::genl_ethtool::Rings>>::Value rings(const Wanted& wanted, const EthtoolNetlink& ethtool);
  Cached<Fact<host::genl_ethtool::Pause>>::Value pause(const Wanted& wanted, const EthtoolNetlink& ethtool);
  /// For whoever has asked for the counters of pause frames, with which the kernel tells this, too.
  void put_pause(const host::genl_ethtool::Pause& pause, Clock::time_point now) { pause_.put(pause, now); }
  /// Each is a firmware command. The first that is absent ends the list.
  Cached<std::vector<EcnSwitch>>::Value ecn(const Wanted& wanted, host::HostFs& sysfs);

 private:
  const std::string name_;
  const std::string path_;
  Cached<Fact<host::dcb::Ieee>> dcb_;
  Cached<Fact<LinkSpeed>> speed_;
  Cached<Fact<host::genl_ethtool::Rings>> rings_;
  Cached<Fact<host::genl_ethtool::Pause>> pause_;
  Cached<std::vector<EcnSwitch>> ecn_;
};

}  // namespace rdma_exporter::facts
