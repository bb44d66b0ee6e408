// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Checks of the network interface below RoCE: MTU, addresses and their GIDs, speed, rings.
#include <fmt/core.h>

#include <algorithm>

#include "doctor/checks/checks.h"
#include "doctor/judge.h"

namespace rdma_exporter::doctor {
namespace {

// 4096 bytes of payload and the headers of RoCE v2 (include/rdma/ib_addr.h iboe_get_mtu), rounded as vendors
// do.
constexpr std::uint64_t kMtuFor4096 = 4200;
constexpr std::uint32_t kSmallRing = 1024;

using host::NetdevRole;

const PortFacts* port_of(const DeviceFacts& device, const NetdevFacts& netdev) {
  for (const PortFacts& port : device.ports)
    if (port.number == netdev.port) return &port;
  return nullptr;
}

void check_mtu(const NetdevFacts& netdev, const Judge& judge) {
  if (!netdev.mtu) return judge.unread(check::netdev_mtu, "mtu", netdev.mtu.error());
  judge.add_finding(check::netdev_mtu, *netdev.mtu >= kMtuFor4096 ? Verdict::ok : Verdict::warning,
                    fmt::format("{} bytes", *netdev.mtu));
}

void check_speed(const NetdevFacts& netdev, const Judge& judge) {
  if (!netdev.speed || !*netdev.speed || !netdev.fastest_mode || !*netdev.fastest_mode) return;
  const double speed = **netdev.speed;
  const double fastest = **netdev.fastest_mode;
  judge.add_finding(check::link_speed, speed < fastest ? Verdict::warning : Verdict::ok,
                    fmt::format("{}, of {} that the interface supports", gigabits(speed), gigabits(fastest)));
}

void check_rings(const NetdevFacts& netdev, const Judge& judge) {
  if (!netdev.rings) {
    if (!is_absent(netdev.rings.error())) judge.unread(check::rings, "ring sizes", netdev.rings.error());
    return;
  }
  const auto& rings = *netdev.rings;
  const auto small = [](const auto& now, const auto& most) {
    return now && most && *now < kSmallRing && *now < *most;
  };
  const bool bad = small(rings.rx, rings.rx_max) || small(rings.tx, rings.tx_max);
  judge.add_finding(check::rings, bad ? Verdict::warning : Verdict::ok,
                    fmt::format("rx {} of {}, tx {} of {}", rings.rx.value_or(0), rings.rx_max.value_or(0),
                                rings.tx.value_or(0), rings.tx_max.value_or(0)));
}

// Addresses of the port's interfaces; an error if those of one interface are unknown.
Fact<std::vector<AddressFacts>> addresses_of(const DeviceFacts& device, const PortFacts& port) {
  std::vector<AddressFacts> all;
  for (const NetdevFacts& netdev : device.netdevs) {
    if (netdev.port != port.number || (netdev.role != NetdevRole::port && netdev.role != NetdevRole::bond))
      continue;
    if (!netdev.addresses) return tl::unexpected(netdev.addresses.error());
    all.insert(all.end(), netdev.addresses->begin(), netdev.addresses->end());
  }
  return all;
}

void check_gids(const DeviceFacts& device, const PortFacts& port, const Judge& judge) {
  if (!port.gids) return judge.unread(check::roce_gids, "the GID table", port.gids.error());
  std::vector<std::string> second_version;
  for (const host::Gid& entry : **port.gids)
    if (entry.type == host::GidType::roce_v2) second_version.push_back(entry.gid);
  if (second_version.empty())
    return judge.add_finding(check::roce_gids, Verdict::critical,
                             fmt::format("no RoCE v2 GID among {}", (*port.gids)->size()));
  const std::string count = fmt::format("{} RoCE v2 GIDs", second_version.size());
  const auto addresses = addresses_of(device, port);
  if (!addresses)
    return judge.ok(check::roce_gids, count + "; the addresses of the interface cannot be read: " +
                                          core::to_string(addresses.error()));
  std::vector<std::string> missing;
  for (const AddressFacts& address : *addresses)
    if (std::find(second_version.begin(), second_version.end(), address.gid) == second_version.end())
      missing.push_back(address.text);
  if (!missing.empty())
    return judge.add_finding(check::roce_gids, Verdict::warning, count + ", none for " + listed(missing));
  judge.ok(check::roce_gids, fmt::format("{}, for all {} addresses", count, addresses->size()));
}

}  // namespace

void check_ethernet(const DeviceFacts& device, Findings& out) {
  for (const PortFacts& port : device.ports)
    if (is_roce(device, port) && is_active(port)) check_gids(device, port, Judge(out, of_port(device, port)));
  for (const NetdevFacts& netdev : device.netdevs) {
    const PortFacts* port = port_of(device, netdev);
    if (port == nullptr || port->link_layer != "Ethernet") continue;
    const Judge judge(out, of_netdev(device, netdev));
    // The MTU of the physical function is a separate setting.
    if (is_roce(device, *port) && netdev.role != NetdevRole::physical) check_mtu(netdev, judge);
    if (netdev.is_software) continue;
    check_speed(netdev, judge);
    check_rings(netdev, judge);
  }
}

}  // namespace rdma_exporter::doctor
