// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "facts/fact_cache.h"

#include <algorithm>
#include <functional>
#include <string_view>

#include "core/text/kernel_text.h"
#include "facts/gather_parts.h"
#include "host/events/port_states.h"
#include "host/topology/inventory.h"

namespace rdma_exporter::facts {
namespace {

core::Result<std::optional<std::uint64_t>> counter(std::string_view text) {
  return core::parse_counter(text);
}

template <typename T>
void read_link(host::HostFs& sysfs, const std::string& path,
               core::Result<std::optional<T>> (*parse)(std::string_view), std::optional<T>& value,
               std::vector<core::Error>& errors) {
  auto fact = read_fact(sysfs, path, parse);
  value = fact.value_or(std::nullopt);
  if (!fact) errors.push_back(std::move(fact.error()));
}

}  // namespace

PortClasses read_classes(host::HostFs& sysfs, const std::string& device, std::uint32_t port) {
  const std::string number = std::to_string(port);
  return {read_fact(sysfs, std::string(host::kDevices) + "/" + device + "/tc/" + number + "/traffic_class",
                    core::parse_global_traffic_class),
          read_fact(sysfs, "kernel/config/rdma_cm/" + device + "/ports/" + number + "/default_roce_tos",
                    counter)};
}

bool PortLink::operator==(const PortLink& other) const {
  const auto same = [](const auto& one, const auto& another) {
    if (one && another) return *one == *another;
    return !one && !another && one.error().kind == another.error().kind &&
           one.error().os_errno == another.error().os_errno;
  };
  return same(state, other.state) && same(physical_state, other.physical_state) && same(rate, other.rate);
}

PortCache::PortCache(host::Host& host, std::shared_ptr<const host::Device> device, std::uint32_t number)
    : host_(host), device_(std::move(device)), number_(number), path_(device_->port_path(number)) {}

Fact<std::string> PortCache::link_layer(const Wanted& wanted) {
  return *link_layer_.get(wanted, [&](const auto*) { return host_.sysfs->read(path_ + "/link_layer"); });
}

bool PortCache::is_ethernet() const {
  const auto known = link_layer_.known();
  return known && *known == "Ethernet";
}

Cached<PortLink>::Value PortCache::port_link(const Wanted& wanted) {
  return link_.get(wanted, [&](const auto*) { return read_link(); });
}

PortLink PortCache::read_link() {
  constexpr std::uint64_t kCycle = 0;
  host::PortStates states(host_,
                          device_);  // not kept: collectors have their own, and put here what they read
  host::PortState state = states.get(number_, kCycle);
  PortLink link{std::move(state.state), std::move(state.physical_state)};
  if (link.state && *link.state == host::kPortActive) link.rate = states.rate(number_, kCycle);
  return link;
}

Cached<PortGids>::Value PortCache::gids(const Wanted& wanted) {
  return gids_.get(wanted, [&](const auto*) {
    if (wanted.changed) table_.reset();
    return read_gids();
  });
}

PortGids PortCache::read_gids() {
  PortGids result;
  const auto on_error = [&](const core::Error& error) { result.slot_errors.push_back(error); };
  const auto slots = table_.read(*host_.sysfs, path_, on_error);
  if (!slots) {
    result.gids = tl::unexpected(slots.error());
    return result;
  }
  for (const host::Gid& gid : **slots) {
    const auto netdev = host_.sysfs->read(path_ + "/gid_attrs/ndevs/" + std::to_string(gid.slot));
    if (!netdev) result.netdev_errors.push_back(netdev.error());
    if (!netdev || netdev->empty()) continue;
    if (std::find(result.netdevs.begin(), result.netdevs.end(), *netdev) == result.netdevs.end())
      result.netdevs.push_back(*netdev);
  }
  result.gids = *slots;
  return result;
}

Cached<Fact<host::PortMtu>>::Value PortCache::mtu(const Wanted& wanted) {
  return mtu_.get(wanted, [&](const auto*) -> Fact<host::PortMtu> {
    if (!host_.verbs) return no_kernel("verbs device");
    return host_.verbs->port_mtu(device_->name, number_);
  });
}

Cached<PortClasses>::Value PortCache::classes(const Wanted& wanted) {
  return classes_.get(wanted,
                      [&](const auto*) { return read_classes(*host_.sysfs, device_->name, number_); });
}

DeviceCache::DeviceCache(host::Host& host, std::shared_ptr<const host::Device> device)
    : host_(host), device_(std::move(device)) {
  for (const std::uint32_t number : device_->ports)
    ports_.emplace(std::piecewise_construct, std::forward_as_tuple(number),
                   std::forward_as_tuple(host_, device_, number));
}

Cached<AdapterEnd>::Value DeviceCache::adapter(const Wanted& wanted) {
  return adapter_.get(wanted, [&](const AdapterEnd* last) { return read_adapter(last); });
}

AdapterEnd DeviceCache::read_adapter(const AdapterEnd* last) {
  host::HostFs& sysfs = *host_.sysfs;
  AdapterEnd end = last ? *last : AdapterEnd();
  const bool failed = std::any_of(end.errors.begin(), end.errors.end(), std::not_fn(is_absent));
  const bool whole = reads_fixed_facts(adapter_readings_++) || failed;
  end.errors.clear();
  if (whole) {
    end.function = host::find_pci_function(sysfs, device_->path + "/device");
    end.path = end.function.path;
    if (end.function.is_vf()) end.path = sysfs.canonical(end.path + "/physfn").value_or(end.path);
    end.link.address = end.path.substr(end.path.rfind('/') + 1);
  }
  if (end.path.empty()) return end;
  read_link(sysfs, end.path + "/current_link_speed", core::parse_pci_speed, end.link.speed, end.errors);
  read_link(sysfs, end.path + "/current_link_width", core::parse_pci_width, end.link.width, end.errors);
  if (!whole) return end;
  read_link(sysfs, end.path + "/max_link_speed", core::parse_pci_speed, end.link.max_speed, end.errors);
  read_link(sysfs, end.path + "/max_link_width", core::parse_pci_width, end.link.max_width, end.errors);
  return end;
}

Cached<Fact<host::DeviceLimits>>::Value DeviceCache::limits(const Wanted& wanted) {
  return limits_.get(wanted, [&](const Fact<host::DeviceLimits>* last) -> Fact<host::DeviceLimits> {
    if (last && *last) return *last;
    if (!host_.verbs) return no_kernel("verbs device");
    return host_.verbs->device_limits(device_->name);
  });
}

Fact<std::string> DeviceCache::firmware(const Wanted& wanted) {
  return *firmware_.get(wanted, [&](const auto*) { return host_.sysfs->read(device_->path + "/fw_ver"); });
}

Fact<std::string> DeviceCache::board_id(const Wanted& wanted) {
  return *board_id_.get(wanted, [&](const auto*) { return host_.sysfs->read(device_->path + "/board_id"); });
}

Fact<std::string> DeviceCache::node_type(const Wanted& wanted) {
  return *node_type_.get(wanted,
                         [&](const auto*) { return host_.sysfs->read(device_->path + "/node_type"); });
}

Fact<std::string> DeviceCache::numa_node(const Wanted& wanted) {
  return *numa_node_.get(wanted, [&](const auto*) -> Fact<std::string> {
    const std::string& function = adapter(wanted)->function.path;
    if (function.empty()) return unread();
    return host_.sysfs->read(function + "/numa_node");
  });
}

std::shared_ptr<DeviceCache> FactCache::of(host::Host& host,
                                           const std::shared_ptr<const host::Device>& device) {
  const std::lock_guard lock(mutex_);
  std::erase_if(devices_, [](const auto& known) { return known.expired(); });
  for (const auto& known : devices_)
    if (auto cache = known.lock(); cache && cache->is_of(device)) return cache;
  auto cache = std::make_shared<DeviceCache>(host, device);
  devices_.push_back(cache);
  return cache;
}

std::shared_ptr<NetdevCache> FactCache::of(const host::Netdev& netdev) {
  const std::lock_guard lock(mutex_);
  std::erase_if(netdevs_, [](const auto& known) { return known.second.expired(); });
  for (const auto& [registration, known] : netdevs_)
    if (registration == netdev.id)
      if (auto cache = known.lock(); cache && cache->name() == netdev.name) return cache;
  auto cache = std::make_shared<NetdevCache>(netdev);
  netdevs_.emplace_back(netdev.id, cache);
  return cache;
}

}  // namespace rdma_exporter::facts
