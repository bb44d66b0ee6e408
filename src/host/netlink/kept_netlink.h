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

/// The netlink sockets of a host that wait for their next request. Whoever asks takes one for the time of its
/// request, so that there are as many of a family as threads ask it at once, however many devices there are.
/// Thread-safe.
class NetlinkSockets {
 public:
  /// The one used last; nullptr: none waits.
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

/// A netlink conversation that takes a socket of host.netlink_sockets for each request, and opens one where
/// none waits. Within host.open_files the socket stays open for whoever asks next. nullptr where netlink is
/// not used. `host` outlives it. One thread at a time.
std::unique_ptr<Netlink> kept_netlink(Host& host, NetlinkProtocol protocol);

}  // namespace rdma_exporter::host
