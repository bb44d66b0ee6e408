// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/mesh/fleet.h"

#include <algorithm>
#include <optional>

namespace rdma_exporter::probe {
namespace {

std::optional<asio::ip::address> literal(const std::string& host) {
  boost::system::error_code none;
  const auto address = asio::ip::make_address(host, none);
  return none ? std::nullopt : std::optional(address);
}

bool is_domain_of(const std::string& longer, const std::string& shorter) {
  return longer.size() > shorter.size() && longer.starts_with(shorter) && longer[shorter.size()] == '.';
}

std::string with_port(const std::string& host, std::uint16_t port) {
  return (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + std::to_string(port);
}

std::string label_of(const discovery::TargetGroup& group, const std::string& name) {
  const auto found = group.labels.find(name);
  return found == group.labels.end() ? std::string() : found->second;
}

}  // namespace

bool OwnHost::is(const discovery::Address& address) const {
  const auto called = literal(address.host);
  const bool here =
      called ? addresses.contains(called->to_string())
             : address.host == name || is_domain_of(address.host, name) || is_domain_of(name, address.host);
  if (!here || listening.empty()) return here;
  return std::any_of(listening.begin(), listening.end(), [&](const asio::ip::tcp::endpoint& own) {
    return own.port() == address.port &&
           (!called || own.address().is_unspecified() || own.address() == *called);
  });
}

Fleet::Fleet(const discovery::TargetList& list, const SelectOptions& options, std::uint16_t port, OwnHost own)
    : options_(options), own_(std::move(own)) {
  for (const discovery::TargetGroup& group : list) {
    for (discovery::Address address : group.targets) {
      if (port != 0 || address.port == 0) address.port = port != 0 ? port : kDefaultPort;
      Peer peer;
      peer.target.name = label_of(group, "name");
      peer.target.address = address.host;
      peer.target.port = address.port;
      peer.target.group = label_of(group, "group");
      peer.target.device = label_of(group, "device");
      peer.target.leaf = label_of(group, "leaf");
      peer.target.rail = label_of(group, "rail");
      peer.kind = label_of(group, options.mesh ? "leaf" : options.label);
      if (options.mesh) peer.circle = label_of(group, "rail");
      peer.own = own_.is(address);
      peers_.try_emplace(with_port(address.host, address.port), std::move(peer));
    }
  }
  name_peers();
  join();
}

// Chooses the values of the label `target`: as short as possible while still unique.
void Fleet::name_peers() {
  std::map<std::string, unsigned> uses;
  for (auto& [id, peer] : peers_) {
    if (peer.target.name.empty()) peer.target.name = peer.target.address;
    ++uses[peer.target.name];
  }
  for (auto& [id, peer] : peers_)
    if (uses[peer.target.name] > 1) peer.target.name = id;
}

bool Fleet::has_self() const {
  return std::any_of(peers_.begin(), peers_.end(), [](const auto& entry) { return entry.second.own; });
}

void Fleet::join() {
  std::map<std::string, std::vector<Member>> members;
  std::set<std::string> kinds;
  for (const auto& [id, peer] : peers_) {
    members[peer.circle].push_back({id, peer.kind});
    kinds.insert(peer.kind);
    if (peer.own) places_.push_back({id, peer.circle});
  }
  // In a mesh this host must find itself in the list: it would otherwise probe itself under a name that it
  // does not know to be its own.
  if (places_.empty() && !options_.mesh) {
    for (const std::string& kind : kinds) {
      places_.push_back({own_.name + "/" + kind, {}});  // no peer has such a name
      members[{}].push_back({places_.back().id, kind});
    }
  }
  for (auto& [circle, of_circle] : members) selections_.emplace(circle, Selection(std::move(of_circle)));
}

// One host of the other leaves is always probed, so that paths between leaves have series of their own.
std::vector<Fleet::Part> Fleet::parts(const Place& place) const {
  std::vector<Part> parts;
  if (!options_.mesh) {
    for (const Scope scope : options_.scopes) parts.push_back({scope, options_.ring, options_.rotate});
    return parts;
  }
  if (selections_.at(place.circle).candidates(place.id, Scope::other) == 0)
    return {{Scope::same, options_.ring, options_.rotate}};
  return {{Scope::same, options_.ring, 0}, {Scope::other, 1, options_.rotate}};
}

std::vector<Target> Fleet::choose(std::uint64_t epoch, const DeviceOf& device_of) const {
  std::vector<Target> targets;
  for (const Place& place : places_) {
    std::string from;
    if (const auto self = peers_.find(place.id); self != peers_.end()) {
      const Target& entry = self->second.target;
      from = entry.device.empty() ? device_of(entry.address) : entry.device;
      if (from.empty() && places_.size() > 1) continue;
    }
    const Selection& selection = selections_.at(place.circle);
    for (const auto& [scope, ring, rotate] : parts(place)) {
      for (const Choice& choice : selection.choose(place.id, scope, ring, rotate, epoch)) {
        const auto peer = peers_.find(std::string(choice.name));
        if (peer == peers_.end() || peer->second.own) continue;
        Target target = peer->second.target;
        target.from = from;
        target.rotating = choice.rotating;
        targets.push_back(std::move(target));
      }
    }
  }
  std::stable_partition(targets.begin(), targets.end(),
                        [](const Target& target) { return !target.rotating; });
  return targets;
}

}  // namespace rdma_exporter::probe
