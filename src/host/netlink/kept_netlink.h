// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <memory>

#include "host/host.h"
#include "host/netlink/netlink.h"

namespace rdma_exporter::host {

/// A netlink conversation that takes a socket of host.netlink_sockets for each request, and opens one where
/// none waits. Within host.open_files the socket stays open for whoever asks next. nullptr where netlink is
/// not used. `host` outlives it. One thread at a time.
std::unique_ptr<Netlink> kept_netlink(Host& host, NetlinkProtocol protocol);

}  // namespace rdma_exporter::host
