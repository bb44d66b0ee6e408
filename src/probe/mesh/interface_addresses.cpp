// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/mesh/interface_addresses.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <array>
#include <cstring>

namespace rdma_exporter::probe {

std::set<std::string> interface_addresses() {
  std::set<std::string> addresses;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return addresses;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr) continue;
    const int family = one->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    const void* bytes = nullptr;
    sockaddr_in ipv4{};
    sockaddr_in6 ipv6{};
    if (family == AF_INET) {
      std::memcpy(&ipv4, one->ifa_addr, sizeof(ipv4));
      bytes = &ipv4.sin_addr;
    } else {
      std::memcpy(&ipv6, one->ifa_addr, sizeof(ipv6));
      bytes = &ipv6.sin6_addr;
    }
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (::inet_ntop(family, bytes, text.data(), text.size()) != nullptr) addresses.insert(text.data());
  }
  ::freeifaddrs(all);
  return addresses;
}

}  // namespace rdma_exporter::probe
