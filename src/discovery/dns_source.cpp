// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "discovery/dns_source.h"

#include <algorithm>

namespace rdma_exporter::discovery {
namespace {

bool ipv4(const std::string& address) { return address.find(':') == std::string::npos; }

}  // namespace

TargetGroup group_of(std::vector<std::string> addresses, std::uint16_t port) {
  const bool any_ipv4 = std::any_of(addresses.begin(), addresses.end(), ipv4);
  TargetGroup group;
  for (std::string& address : addresses)
    if (!any_ipv4 || ipv4(address)) group.targets.push_back({std::move(address), port});
  return group;
}

Reading DnsSource::read() {
  auto addresses = resolve(name_.host);
  if (!addresses) return {std::nullopt, {std::move(addresses.error())}};
  return {TargetList{group_of(std::move(*addresses), name_.port)}, {}};
}

}  // namespace rdma_exporter::discovery
