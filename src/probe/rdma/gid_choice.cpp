// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/rdma/gid_choice.h"

#include <cerrno>
#include <tuple>

namespace rdma_exporter::probe {
namespace {

// Larger is better. The first differing element decides; among equals, the first entry of the table.
auto merit(const GidEntry& entry, const GidWish& wish) {
  const Gid& gid = entry.gid;
  // If the peer's control connection and its queue pair have different addresses, they may be in different
  // VLANs: then our address of the control connection says nothing.
  const bool of_peer = !wish.peer || !wish.far_control || wish.peer == wish.far_control;
  const bool control = of_peer && wish.near_control == gid;
  const bool family = wish.peer && wish.peer->ipv4() == gid.ipv4();
  // A port may have an address in each of several VLANs, of which the peer is in one.
  const auto& far = wish.peer ? wish.peer : wish.toward;
  const unsigned prefix = far ? common_prefix(*far, gid) : 0;
  return std::tuple(family, control, !gid.link_local(), prefix, gid.ipv4());
}

}  // namespace

core::Result<GidEntry> choose_gid(std::span<const GidEntry> entries, LinkLayer link, const GidWish& wish) {
  const GidEntry* best = nullptr;
  for (const GidEntry& entry : entries) {
    if (!entry.usable || entry.gid.zero()) continue;
    if (wish.exact && *wish.exact != entry.gid) continue;
    if (wish.netdev != 0 && wish.netdev != entry.netdev) continue;
    // An InfiniBand port's first GID consists of the subnet prefix and its GUID, and is sufficient.
    if (link == LinkLayer::infiniband) return entry;
    if (best == nullptr || merit(entry, wish) > merit(*best, wish)) best = &entry;
  }
  if (best == nullptr) return core::os_error(ENOENT, "no RoCE v2 GID for the address");
  return *best;
}

}  // namespace rdma_exporter::probe
