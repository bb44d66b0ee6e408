// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/topology/network_namespace.h"

#include <algorithm>
#include <string>
#include <vector>

namespace rdma_exporter::host {

bool in_first_network_namespace(HostFs& procfs) { return procfs.exists("sys/net/core/netdev_max_backlog"); }

bool is_of_first_network_namespace(Host& host, const Device& device) {
  if (!host.ethtool || !in_first_network_namespace(*host.procfs)) return false;
  const auto function = host.sysfs->link_name(device.path + "/device");
  if (!function) return false;
  const auto netdevs = host.sysfs->list(device.path + "/device/net").value_or(std::vector<std::string>{});
  if (netdevs.empty() || netdevs.size() != device.ports.size()) return false;
  return std::all_of(netdevs.begin(), netdevs.end(), [&](const std::string& netdev) {
    const auto info = driver_info(*host.ethtool, netdev);
    return info && info->bus_address == *function;
  });
}

}  // namespace rdma_exporter::host
