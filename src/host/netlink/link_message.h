// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <functional>
#include <string_view>

#include "core/result.h"
#include "host/netlink/netlink.h"

namespace rdma_exporter::host {

/// Reads a datagram of the rtnetlink group of links (net/core/rtnetlink.c rtmsg_ifinfo): calls `on_link` with
/// the name of each interface that came, went or changed (state, carrier, MTU, address, name, ...). The name
/// lives in the datagram. Messages about a bridge's ports and of other types are passed over. A malformed
/// message ends the walk with a parse error.
core::Result<void> parse_links(Bytes datagram, const std::function<void(std::string_view name)>& on_link);

}  // namespace rdma_exporter::host
