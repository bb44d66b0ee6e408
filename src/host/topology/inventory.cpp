// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/topology/inventory.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <utility>

#include "core/text/kernel_text.h"
#include "host/netlink/kept_netlink.h"
#include "host/netlink/netlink.h"
#include "host/topology/netdev_relations.h"

namespace rdma_exporter::host {
namespace {

constexpr std::uint32_t kNodeTypeRnic = 4;  // include/rdma/ib_verbs.h RDMA_NODE_RNIC: iWARP

}  // namespace

Inventory::Inventory(Host& host, std::function<bool(const std::string&)> wanted, Recognise recognise)
    : host_(host),
      wanted_(std::move(wanted)),
      recognise_(std::move(recognise)),
      netlink_(kept_netlink(host, NetlinkProtocol::rdma)) {}

core::Result<bool> Inventory::refresh(Clock::time_point now) {
  const bool complete = host_.changes->complete();
  const std::uint64_t changes = host_.changes->all();
  const auto fingerprint = host_.sysfs->fingerprint(kDevices);
  const bool same_list = std::exchange(fingerprint_, fingerprint) == fingerprint && fingerprint;
  const bool early = next_look_ && now < *next_look_;
  if (early && same_list && changes == seen_changes_) return false;
  auto listed = host_.sysfs->entries(kDevices);
  // ENOENT: the RDMA core is not loaded.
  if (!listed && !core::is_errno(listed.error(), ENOENT)) return tl::unexpected(listed.error());
  auto entries = std::move(listed).value_or(std::vector<DirEntry>{});
  const bool quiet = changes == seen_changes_ && is_quiet(entries, complete);
  if (quiet && early) return false;
  const bool changed = look(entries);
  // A device that is not complete yet is examined again at once.
  const bool whole = netlink_whole_ && missing_.empty() && settled_.size() == devices_.size();
  next_look_ = whole ? std::optional(now + kInterval) : std::nullopt;
  seen_changes_ = changes;
  entries_ = std::move(entries);
  return changed;
}

// On sysfs a device that is registered again has another link, and no inode number is used twice.
bool Inventory::is_quiet(const std::vector<DirEntry>& entries, bool told) const {
  const bool identified =
      !host_.sysfs->directories_change() &&
      std::all_of(entries.begin(), entries.end(), [](const DirEntry& entry) { return entry.inode != 0; });
  if (!told) return identified && entries == entries_;
  return std::equal(entries.begin(), entries.end(), entries_.begin(), entries_.end(),
                    [](const DirEntry& one, const DirEntry& other) { return one.name == other.name; });
}

bool Inventory::look(const std::vector<DirEntry>& entries) {
  const NetlinkDevices netlink = entries.empty() ? NetlinkDevices{} : netlink_devices();
  Devices found;
  std::set<std::string> settled;
  const std::vector<std::string> missing_before = std::exchange(missing_, {});
  unreachable_.clear();
  for (const auto& [name, inode] : entries) {
    if (!wanted_(name)) continue;
    const auto id = host_.sysfs->stat(kDevices + ("/" + name));
    if (!id) {
      missing_.push_back(name);
      if (std::find(missing_before.begin(), missing_before.end(), name) != missing_before.end())
        unreachable_.push_back(name);
    }
    if (!id || !id->directory) continue;
    found.push_back(find(name, *id, netlink, settled));
  }
  const bool changed = found != devices_;
  devices_ = std::move(found);
  settled_ = std::move(settled);
  return changed;
}

Inventory::NetlinkDevices Inventory::netlink_devices() {
  NetlinkDevices devices;
  if (!netlink_) return devices;
  // An error leaves the map as far as it came: a device without an index is read through sysfs.
  const auto dumped = walk(*netlink_, nldev::kGet, {}, [&](Bytes payload) -> core::Result<bool> {
    if (auto device = nldev::parse_device(payload))
      devices.insert_or_assign(device->name, std::move(*device));
    return true;
  });
  netlink_whole_ = dumped.has_value();
  return devices;
}

std::shared_ptr<const Device> Inventory::find(const std::string& name, const FileId& id,
                                              const NetlinkDevices& netlink, std::set<std::string>& settled) {
  const auto before = known(name, id);
  const auto entry = netlink.find(name);
  std::optional<std::uint32_t> index;
  std::string protocol;
  if (entry != netlink.end()) {
    index = entry->second.index;
    protocol = entry->second.protocol;
  } else if (before && !netlink_whole_) {
    // A failed dump does not show that the device has gone; its directory shows that it is the same one.
    index = before->netlink_index;
    protocol = before->protocol;
  }
  const bool same = before && before->netlink_index == index;
  if (same && settled_.contains(name)) {
    settled.insert(name);
    return before;
  }
  auto device = load(name, id);
  device->netlink_index = index;
  device->protocol = std::move(protocol);
  if (!same || *before != *device) return device;
  if (!device->ports.empty()) settled.insert(name);
  return before;
}

std::shared_ptr<const Device> Inventory::known(const std::string& name, const FileId& id) const {
  const auto it =
      std::find_if(devices_.begin(), devices_.end(), [&](const auto& d) { return d->name == name; });
  return it != devices_.end() && (*it)->id == id ? *it : nullptr;
}

std::shared_ptr<Device> Inventory::load(const std::string& name, const FileId& id) {
  auto device = std::make_shared<Device>();
  device->name = name;
  device->path = kDevices + ("/" + name);
  device->id = id;
  device->ports = list_ports(device->path + "/ports");
  device->parent_driver = host_.sysfs->link_name(device->path + "/device/driver").value_or("");
  device->driver = find_driver(*device);
  return device;
}

std::vector<std::uint32_t> Inventory::list_ports(const std::string& path) {
  std::vector<std::uint32_t> ports;
  for (const std::string& name : host_.sysfs->list(path).value_or(std::vector<std::string>{})) {
    std::uint32_t port = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), port);
    // As the kernel prints it: "01" is no port.
    if (error == std::errc{} && std::to_string(port) == name) ports.push_back(port);
  }
  std::sort(ports.begin(), ports.end());
  return ports;
}

// rxe alone has the attribute `parent` (sw/rxe/rxe_verbs.c), whatever interface it sits on.
Driver Inventory::find_driver(const Device& device) {
  if (host_.sysfs->exists(device.path + "/parent")) return Driver::rxe;
  const Driver by_parent = driver_from_parent(device.parent_driver);
  return by_parent != Driver::unknown ? by_parent : driver_without_link(device);
}

// In a recorded tree or a container the link to the PCI function may be missing. Soft-iWARP has none on any
// host; it is an RNIC, and its interface may be that of another adapter.
Driver Inventory::driver_without_link(const Device& device) {
  const Driver by_type = driver_from_hca_type(host_.sysfs->read(device.path + "/hca_type").value_or(""));
  if (by_type != Driver::unknown) return by_type;
  const Driver by_counters = driver_of_counters(device);
  if (by_counters != Driver::unknown || !device.parent_driver.empty()) return by_counters;
  const auto text = host_.sysfs->read(device.path + "/node_type");
  const auto node_type = text ? core::parse_enum(*text) : core::parse_error();
  return node_type && *node_type == kNodeTypeRnic ? Driver::siw : driver_of_netdev(device);
}

// Last, because the answer waits for the kernel's RTNL lock, and all devices wait for this search.
Driver Inventory::driver_of_netdev(const Device& device) {
  if (!host_.ethtool) return Driver::unknown;
  for (const std::uint32_t port : device.ports) {
    const std::string netdev = netdev_of_first_gid(*host_.sysfs, device.port_path(port));
    if (netdev.empty()) continue;
    const auto info = driver_info(*host_.ethtool, netdev);
    const Driver driver = info ? driver_from_parent(info->driver) : Driver::unknown;
    if (driver != Driver::unknown) return driver;
  }
  return Driver::unknown;
}

Driver Inventory::driver_of_counters(const Device& device) {
  if (!recognise_) return Driver::unknown;
  for (const std::uint32_t port : device.ports) {
    const auto names = host_.sysfs->list(device.port_path(port) + "/hw_counters");
    const Driver driver = names ? recognise_(*names) : Driver::unknown;
    if (driver != Driver::unknown) return driver;
  }
  return Driver::unknown;
}

}  // namespace rdma_exporter::host
