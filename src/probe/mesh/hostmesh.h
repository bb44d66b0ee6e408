// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "probe/agent/options.h"
#include "probe/channel/frame.h"
#include "probe/rdma/gid.h"

namespace rdma_exporter::probe {

/// An active port of this host, and the addresses that a connection can use there.
struct OwnPort {
  std::string device;
  std::uint8_t port = 1;
  LinkLayer link = LinkLayer::ethernet;
  std::vector<Gid> gids{};
  bool default_route = false;               ///< whether the default route uses its interface
  std::optional<unsigned> traffic_class{};  ///< the one that the host presets
  bool operator==(const OwnPort&) const = default;
};

/// Updates the known ports. A port that is no longer active, or has lost its addresses, is kept: its targets
/// must fail rather than vanish. True if anything is new.
bool remember(std::vector<OwnPort>& known, const std::vector<OwnPort>& seen);

/// Each device of this host as a target of each other device with which it shares a scope: IPv4 or global
/// IPv6 on Ethernet, the same subnet prefix on InfiniBand. Link-local addresses do not count, because each
/// interface has its own. `port`: that of the responder on loopback.
std::vector<Target> hostmesh_targets(const std::vector<OwnPort>& ports, std::uint16_t port);

}  // namespace rdma_exporter::probe
