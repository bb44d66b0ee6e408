// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "probe/agent/options.h"
#include "probe/channel/frame.h"
#include "probe/rdma/gid.h"

namespace rdma_exporter::probe {

/// An active port of this host and the addresses that a connection can have there.
struct OwnPort {
  std::string device;
  std::uint8_t port = 1;
  LinkLayer link = LinkLayer::ethernet;
  std::vector<Gid> gids{};
  bool operator==(const OwnPort&) const = default;
};

/// Takes over what a look at the ports brought. A port that is not active any more, or has lost its
/// addresses, is kept as it was: its targets have to fail and not to vanish. True when something is new.
bool remember(std::vector<OwnPort>& known, const std::vector<OwnPort>& seen);

/// Each device of this host as target of each other one with which it has a scope in common: IPv4 or global
/// IPv6 on Ethernet, the same subnet prefix on InfiniBand. Link-local addresses are no scope: each interface
/// has its own. `port`: of the responder on loopback.
std::vector<Target> hostmesh_targets(const std::vector<OwnPort>& ports, std::uint16_t port);

}  // namespace rdma_exporter::probe
