// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/netdev.h"

#include <algorithm>
#include <utility>

#include "host/nldev.h"

namespace rdma_exporter::host {

Netdevs::Netdevs(Host& host) : host_(host), netlink_(host.make_netlink(NetlinkProtocol::rdma)) {}

bool Netdevs::refresh(Devices devices, bool devices_changed, Clock::time_point now) {
  if (!devices_changed && next_ && now < *next_ && all_unchanged()) return false;
  next_ = now + kInterval;
  List found = find(devices);
  if (found == netdevs_) return false;
  netdevs_ = std::move(found);
  return true;
}

bool Netdevs::all_unchanged() const {
  return std::all_of(netdevs_.begin(), netdevs_.end(), [this](const auto& netdev) {
    const auto id = host_.sysfs->stat(netdev->path);
    return id && *id == netdev->id;
  });
}

Netdevs::List Netdevs::find(Devices devices) {
  List found;
  for (const auto& device : devices) {
    for (const std::uint32_t port : device->ports) {
      const std::string name = port_netdev(*device, port);
      const bool known =
          std::any_of(found.begin(), found.end(), [&](const auto& n) { return n->name == name; });
      if (name.empty() || known) continue;
      if (auto netdev = load(name, *device, port)) found.push_back(std::move(netdev));
    }
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a->name < b->name; });
  return found;
}

std::string Netdevs::port_netdev(const Device& device, std::uint32_t port) {
  std::string name;
  if (netlink_ && device.netlink_index) {
    const auto request = nldev::device_request(*device.netlink_index, port);
    (void)netlink_->request(nldev::kPortGet, 0, request, [&](Bytes answer) {
      if (const auto parsed = nldev::parse_port(answer)) name = parsed->netdev;
    });
  }
  // The first GID is that of the interface itself, those of its VLANs follow.
  if (name.empty()) name = host_.sysfs->read(device.port_path(port) + "/gid_attrs/ndevs/0").value_or("");
  if (name.empty()) name = host_.sysfs->read(device.path + "/parent").value_or("");  // rxe
  return name;
}

std::shared_ptr<const Netdev> Netdevs::load(const std::string& name, const Device& device,
                                            std::uint32_t port) {
  auto netdev = std::make_shared<Netdev>();
  netdev->name = name;
  netdev->path = "class/net/" + name;
  // ENOENT: in another network namespace.
  const auto id = host_.sysfs->stat(netdev->path);
  if (!id) return nullptr;
  const auto known = std::find_if(netdevs_.begin(), netdevs_.end(), [&](const auto& old) {
    return old->name == name && old->id == *id && old->device == device.name && old->port == port;
  });
  if (known != netdevs_.end()) return *known;
  netdev->id = *id;
  netdev->device = device.name;
  netdev->port = port;
  netdev->driver = host_.sysfs->link_name(netdev->path + "/device/driver").value_or("");
  return netdev;
}

}  // namespace rdma_exporter::host
