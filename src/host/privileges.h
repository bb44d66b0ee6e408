// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "host/fs/host_fs.h"

namespace rdma_exporter::host {

/// A privilege that this process lacks, and what is not served without it.
struct MissingPrivilege {
  std::string_view privilege;
  std::string_view feature;
  bool operator==(const MissingPrivilege&) const = default;
};

/// How the check tries each privilege.
struct PrivilegeSources {
  HostFs& sysfs;
  HostFs& procfs;
  /// /dev/infiniband/NAME can be opened, and read and written to; false when that is not allowed or it is not
  /// there.
  std::function<bool(const std::string& name)> can_open_verbs;
  /// A socket of the family AF_NETLINK.
  std::function<bool()> can_open_netlink;
  bool owners_wanted = true;
  /// Capability CAP_NET_ADMIN, which the collector `module` needs; empty: not wanted.
  std::function<bool()> has_net_admin = nullptr;
  /// A socket of the family AF_PACKET, which the collector `neighbor` needs; empty: not wanted.
  std::function<bool()> can_open_packet = nullptr;
};

/// Those of the running process.
bool can_open_verbs(const std::string& name);
bool can_open_netlink();
bool has_net_admin();
bool can_open_packet();

/// Missing privileges that this host needs: none on a host without RDMA devices. May block as long as a
/// driver takes: not for the io thread, nor for a scrape.
std::vector<MissingPrivilege> missing_privileges(const PrivilegeSources& sources);

}  // namespace rdma_exporter::host
