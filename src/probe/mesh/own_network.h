// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

// What the kernel says of the network that this host is in.
namespace rdma_exporter::probe {

/// IPv4 and IPv6 addresses of this host's network interfaces, without scopes. Queries the kernel, which may
/// be slow; empty on failure.
std::set<std::string> interface_addresses();

/// Name of the interface of the default route with the lowest metric, for IPv4 or else IPv6; empty if there
/// is none. `route` and `route6` are the contents of /proc/net/route and /proc/net/ipv6_route
/// (net/ipv4/fib_trie.c, fib_route_seq_show(); net/ipv6/ip6_fib.c, ipv6_route_seq_show()).
std::string default_route_interface(std::string_view route, std::string_view route6);

/// Index of that interface in this network namespace; 0: none. Reads both files.
std::uint32_t default_route_netdev();

}  // namespace rdma_exporter::probe
