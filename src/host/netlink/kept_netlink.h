// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "host/netlink/netlink.h"

namespace rdma_exporter::host {

struct Host;

/// The idle netlink sockets of a host. Each request borrows one, so that a family has as many sockets as
/// threads use it at once, however many devices there are. Thread-safe.
class NetlinkSockets {
 public:
  /// The one that was used last; nullptr: none is idle.
  std::unique_ptr<Netlink> take(NetlinkProtocol protocol) {
    const std::lock_guard lock(mutex_);
    auto& waiting = waiting_.at(static_cast<std::size_t>(protocol));
    if (waiting.empty()) return nullptr;
    auto netlink = std::move(waiting.back());
    waiting.pop_back();
    return netlink;
  }
  void give_back(NetlinkProtocol protocol, std::unique_ptr<Netlink> netlink) {
    const std::lock_guard lock(mutex_);
    waiting_.at(static_cast<std::size_t>(protocol)).push_back(std::move(netlink));
  }

 private:
  std::mutex mutex_;
  std::array<std::vector<std::unique_ptr<Netlink>>, kNetlinkProtocols> waiting_;
};

/// A netlink conversation that borrows a socket of host.netlink_sockets for each request, and opens one if
/// none is idle. Within host.open_files the socket stays open for the next request. nullptr if netlink is not
/// used. `host` outlives it. One thread at a time.
std::unique_ptr<Netlink> kept_netlink(Host& host, NetlinkProtocol protocol);

}  // namespace rdma_exporter::host
