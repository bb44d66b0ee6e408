// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/topology/netdev_relations.h"

#include <algorithm>
#include <string_view>

#include "core/text/number.h"

namespace rdma_exporter::host {
namespace {

constexpr std::string_view kLower = "lower_";

std::string path_of(const std::string& netdev) { return "class/net/" + netdev; }

std::vector<std::string> entries(HostFs& sysfs, const std::string& directory) {
  return sysfs.list(directory).value_or(std::vector<std::string>{});
}

// Decimal, counted from 0; "0" where the file is missing.
std::string dev_port(HostFs& sysfs, const std::string& netdev) {
  return sysfs.read(path_of(netdev) + "/dev_port").value_or("0");
}

// "p", digits, and for a split port "s" and digits.
bool names_an_uplink(std::string_view name) {
  if (!name.starts_with('p')) return false;
  name.remove_prefix(1);
  const std::string_view port = name.substr(0, name.find('s'));
  const std::string_view rest = name.substr(port.size());
  return !port.empty() && std::all_of(port.begin(), port.end(), core::is_digit) &&
         (rest.empty() || (rest.size() > 1 && std::all_of(rest.begin() + 1, rest.end(), core::is_digit)));
}

}  // namespace

bool is_software_netdev(HostFs& sysfs, const std::string& netdev) {
  return !sysfs.exists(path_of(netdev) + "/device");
}

bool is_bond(HostFs& sysfs, const std::string& netdev) { return sysfs.exists(path_of(netdev) + "/bonding"); }

std::string bond_of(HostFs& sysfs, const std::string& netdev) {
  // Bridges and VRFs are masters too.
  const std::string master = sysfs.link_name(path_of(netdev) + "/master").value_or("");
  return !master.empty() && is_bond(sysfs, master) ? master : std::string();
}

std::vector<std::string> lower_netdevs(HostFs& sysfs, const std::string& netdev) {
  std::vector<std::string> lower;
  for (const std::string& entry : entries(sysfs, path_of(netdev)))
    if (entry.starts_with(kLower)) lower.push_back(entry.substr(kLower.size()));
  return lower;
}

std::vector<std::string> physical_netdevs(HostFs& sysfs, const std::string& netdev) {
  auto netdevs = entries(sysfs, path_of(netdev) + "/device/physfn/net");
  const std::string port = dev_port(sysfs, netdev);
  std::erase_if(netdevs, [&](const std::string& name) { return dev_port(sysfs, name) != port; });
  return netdevs;
}

std::string netdev_of_port(HostFs& sysfs, const std::string& device_path, std::uint32_t port) {
  const std::string wanted = std::to_string(port - 1);
  auto netdevs = entries(sysfs, device_path + "/device/net");
  std::erase_if(netdevs, [&](const std::string& name) { return dev_port(sysfs, name) != wanted; });
  // Only in switchdev mode a port has several; what tells a representor waits for the kernel's RTNL lock.
  if (netdevs.size() > 1)
    std::erase_if(netdevs, [&](const std::string& name) { return is_representor(sysfs, name); });
  return netdevs.empty() ? std::string() : netdevs.front();
}

std::string netdev_of_first_gid(HostFs& sysfs, const std::string& port_path) {
  return sysfs.read(port_path + "/gid_attrs/ndevs/0").value_or("");
}

bool is_representor(HostFs& sysfs, const std::string& netdev) {
  // EOPNOTSUPP: no switch, which is most interfaces.
  if (sysfs.read(path_of(netdev) + "/phys_switch_id").value_or("").empty()) return false;
  return !names_an_uplink(sysfs.read(path_of(netdev) + "/phys_port_name").value_or(""));
}

}  // namespace rdma_exporter::host
