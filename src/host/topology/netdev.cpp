// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/topology/netdev.h"

#include <algorithm>
#include <utility>

#include "core/intern.h"
#include "host/topology/netdev_relations.h"

namespace rdma_exporter::host {
namespace {

constexpr const char* kNetdevs = "class/net";

template <typename Candidates, typename Candidate>
void add_once(Candidates& all, Candidate candidate) {
  const bool known = candidate.name.empty() || std::any_of(all.begin(), all.end(), [&](const auto& other) {
                       return other.name == candidate.name;
                     });
  if (!known) all.push_back(std::move(candidate));
}

// The inode numbers of the links to these interfaces, 0 where there is none. Both are sorted by name.
std::vector<std::uint64_t> links_to(const Netdevs::List& netdevs, const std::vector<DirEntry>& entries) {
  std::vector<std::uint64_t> links;
  links.reserve(netdevs.size());
  auto entry = entries.begin();
  for (const auto& netdev : netdevs) {
    while (entry != entries.end() && entry->name < netdev->name) ++entry;
    links.push_back(entry != entries.end() && entry->name == netdev->name ? entry->inode : 0);
  }
  return links;
}

}  // namespace

std::string_view to_string(NetdevRole role) {
  switch (role) {
    case NetdevRole::port:
      return "port";
    case NetdevRole::lower:
      return "lower";
    case NetdevRole::physical:
      return "physical";
    case NetdevRole::bond:
      return "bond";
    case NetdevRole::member:
      return "member";
  }
  return "unknown";
}

Netdevs::Netdevs(Host& host) : host_(host) {}

// A port's interface follows what happened to interfaces a little later, by a work queue of the kernel: so
// the search behind an event is repeated after kInterval.
bool Netdevs::refresh(Devices devices, bool devices_changed, Clock::time_point now) {
  const bool complete = host_.changes->complete();
  const std::uint64_t changes = host_.changes->all();
  const std::uint64_t links = host_.changes->links();
  const bool told = std::exchange(seen_changes_, changes) != changes;
  const bool links_told = std::exchange(seen_links_, links) != links;
  const bool silent = !told && !links_told;
  if (complete && silent && !devices_changed && next_ && now < *next_) return false;
  const auto listed = host_.sysfs->fingerprint(kNetdevs);
  const bool same_list = std::exchange(listed_, listed) == listed && listed;
  const bool quiet = silent && (complete || same_list);
  if (next_ && !quiet) next_ = std::min(*next_, now + kInterval);
  const bool due = devices_changed || told || !next_ || now >= *next_;
  if (!due && same_list && all_listed()) return false;
  const std::vector<DirEntry> entries = list();
  if (!due && all_unchanged(entries)) return false;
  next_ = now + (quiet && !devices_changed ? kQuietInterval : kInterval);
  List found = find(devices);
  links_ = links_to(found, entries);
  if (found == netdevs_) return false;
  netdevs_ = std::move(found);
  return true;
}

// Of sysfs, else empty. Read before the interfaces themselves: the next list shows what has changed since.
std::vector<DirEntry> Netdevs::list() const {
  if (host_.sysfs->directories_change()) return {};
  return host_.sysfs->entries(kNetdevs).value_or(std::vector<DirEntry>{});
}

bool Netdevs::all_listed() const { return std::find(links_.begin(), links_.end(), 0U) == links_.end(); }

// On sysfs an interface that is registered again has another link, and no inode number is used twice: one
// list shows it for all of them.
bool Netdevs::all_unchanged(const std::vector<DirEntry>& entries) const {
  if (!entries.empty() && all_listed()) return links_to(netdevs_, entries) == links_;
  return std::all_of(netdevs_.begin(), netdevs_.end(), [this](const auto& netdev) {
    const auto id = host_.sysfs->stat(netdev->path);
    return id && *id == netdev->id;
  });
}

Netdevs::List Netdevs::find(Devices devices) {
  Candidates candidates;
  for (const auto& device : devices)
    for (const std::uint32_t port : device->ports)
      add_once(candidates, Candidate{port_netdev(*device, port), NetdevRole::port, device.get(), port});
  // Grows on the way: a VLAN on a bond leads to the bond, and the bond to its members.
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    Candidate candidate = candidates[i];
    resolve(candidate, candidates);
    candidates[i] = std::move(candidate);
  }
  List found;
  for (const Candidate& candidate : candidates)
    if (auto netdev = candidate.name.empty() ? nullptr : load(candidate)) found.push_back(std::move(netdev));
  representors_ = std::exchange(representors_found_, {});
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a->name < b->name; });
  return found;
}

// From what the kernel keeps in memory only, as nobody may wait for an adapter here: all devices wait for
// this search. RDMA netlink would tell too (PORT_GET), but most drivers ask their firmware for it.
std::string Netdevs::port_netdev(const Device& device, std::uint32_t port) {
  std::string name = host_.sysfs->read(device.path + "/parent").value_or("");  // rxe
  if (name.empty()) name = netdev_of_port(*host_.sysfs, device.path, port);
  if (name.empty()) name = netdev_of_first_gid(*host_.sysfs, device.port_path(port));
  return name;
}

// Says what the interface is, adds those that belong to it, and takes its name away where another one stands
// for it.
void Netdevs::resolve(Candidate& candidate, Candidates& all) {
  HostFs& sysfs = *host_.sysfs;
  const auto add = [&](const std::string& name, NetdevRole role) {
    add_once(all, Candidate{name, role, candidate.device, candidate.port});
  };
  if (candidate.name.empty() || candidate.role == NetdevRole::physical) return;
  if (is_bond(sysfs, candidate.name)) {
    candidate.role = NetdevRole::bond;
    for (const std::string& member : lower_netdevs(sysfs, candidate.name)) add(member, NetdevRole::member);
  } else if (is_software_netdev(sysfs, candidate.name)) {
    const auto lower = lower_netdevs(sysfs, candidate.name);
    if (lower.size() != 1) return;  // veth, dummy; a bridge is the port's interface itself
    add(lower.front(), NetdevRole::lower);
    candidate.name.clear();
  } else {
    add(bond_of(sysfs, candidate.name), NetdevRole::bond);
    for (const std::string& name : physical_netdevs(sysfs, candidate.name)) add(name, NetdevRole::physical);
  }
}

std::shared_ptr<const Netdev> Netdevs::load(const Candidate& candidate) {
  Netdev netdev;
  netdev.name = candidate.name;
  netdev.path = "class/net/" + candidate.name;
  // ENOENT: in another network namespace.
  const auto id = host_.sysfs->stat(netdev.path);
  if (!id) return nullptr;
  const auto known = std::find_if(netdevs_.begin(), netdevs_.end(), [&](const auto& old) {
    return old->name == candidate.name && old->id == *id && old->role == candidate.role &&
           old->device == candidate.device->name && old->port == candidate.port;
  });
  if (known != netdevs_.end()) return *known;
  if (is_known_representor({candidate.name, *id})) return nullptr;
  netdev.id = *id;
  netdev.role = candidate.role;
  netdev.device = candidate.device->name;
  netdev.port = candidate.port;
  netdev.driver = host_.sysfs->link_name(netdev.path + "/device/driver").value_or("");
  return core::intern(std::move(netdev));  // the checks of the configuration look for interfaces, too
}

bool Netdevs::is_known_representor(const Representor& netdev) {
  const bool known = std::find(representors_.begin(), representors_.end(), netdev) != representors_.end();
  if (!known && !is_representor(*host_.sysfs, netdev.name)) return false;
  representors_found_.push_back(netdev);
  return true;
}

}  // namespace rdma_exporter::host
