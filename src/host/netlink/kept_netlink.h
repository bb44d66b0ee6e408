// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <memory>

#include "host/host.h"
#include "host/netlink/netlink.h"

namespace rdma_exporter::host {

/// A netlink conversation whose socket stays open between requests within host.open_files, and is opened for
/// each request beyond it. nullptr where netlink is not used. `host` outlives it. One thread at a time.
std::unique_ptr<Netlink> kept_netlink(Host& host, NetlinkProtocol protocol);

}  // namespace rdma_exporter::host
