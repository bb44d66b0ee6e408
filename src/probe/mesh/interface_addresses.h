// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <set>
#include <string>

namespace rdma_exporter::probe {

/// IPv4 and IPv6 addresses of this host's network interfaces, without scopes. Queries the kernel, which may
/// be slow; empty on failure.
std::set<std::string> interface_addresses();

}  // namespace rdma_exporter::probe
