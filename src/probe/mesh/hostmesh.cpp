// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/mesh/hostmesh.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace rdma_exporter::probe {
namespace {

bool same_scope(LinkLayer link, const Gid& a, const Gid& b) {
  if (link == LinkLayer::infiniband) return std::equal(a.bytes.begin(), a.bytes.begin() + 8, b.bytes.begin());
  return a.ipv4() == b.ipv4() && !a.link_local() && !b.link_local();
}

// The near port's address for connections to the far one. IPv4 is preferred, because most fabrics use it.
std::optional<Gid> common_address(const OwnPort& near, const OwnPort& far) {
  std::optional<Gid> found;
  for (const Gid& a : near.gids)
    for (const Gid& b : far.gids)
      if (same_scope(near.link, a, b) && (!found || (a.ipv4() && !found->ipv4()))) found = a;
  return found;
}

bool has_scope(const OwnPort& port) {
  if (port.link == LinkLayer::infiniband) return !port.gids.empty();
  return std::any_of(port.gids.begin(), port.gids.end(), [](const Gid& gid) { return !gid.link_local(); });
}

}  // namespace

bool remember(std::vector<OwnPort>& known, const std::vector<OwnPort>& seen) {
  bool is_new = false;
  for (const OwnPort& port : seen) {
    const auto old = std::find_if(known.begin(), known.end(), [&](const OwnPort& other) {
      return other.device == port.device && other.port == port.port;
    });
    if (old != known.end() && (*old == port || !has_scope(port))) continue;
    is_new = true;
    if (old == known.end())
      known.push_back(port);
    else
      *old = port;
  }
  return is_new;
}

std::vector<Target> hostmesh_targets(const std::vector<OwnPort>& ports, std::uint16_t port) {
  std::vector<Target> targets;
  std::set<std::pair<std::string, std::string>> pairs;
  for (const OwnPort& near : ports) {
    for (const OwnPort& far : ports) {
      if (near.device == far.device || near.link != far.link) continue;
      const auto address = common_address(near, far);
      if (!address || !pairs.emplace(near.device, far.device).second) continue;
      Target target;
      target.name = far.device;
      target.address = "127.0.0.1";
      target.port = port;
      target.group = "hostmesh";
      target.device = far.device;
      target.from = near.device;
      if (near.link != LinkLayer::infiniband) target.source = address_text(*address);
      targets.push_back(std::move(target));
    }
  }
  return targets;
}

}  // namespace rdma_exporter::probe
