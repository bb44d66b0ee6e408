// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/mesh/own_network.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <utility>
#include <vector>

namespace rdma_exporter::probe {
namespace {

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>(stream), {}};
}

// The interface in the line with the lowest metric among those that `is_default` accepts.
template <typename IsDefault>
std::string least(std::string_view text, std::size_t interface, std::size_t metric, int base,
                  const IsDefault& is_default) {
  std::istringstream lines{std::string(text)};
  std::string found;
  unsigned long least = ~0UL;
  for (std::string line; std::getline(lines, line);) {
    const auto words = words_of(line);
    if (words.size() <= std::max(interface, metric) || !is_default(words)) continue;
    unsigned long value = 0;
    const std::string& number = words[metric];
    const auto end = number.data() + number.size();
    if (std::from_chars(number.data(), end, value, base).ptr != end || value >= least) continue;
    least = value;
    found = words[interface];
  }
  return found;
}

std::string content_of(const char* path) {
  const std::ifstream file(path);
  std::ostringstream content;
  content << file.rdbuf();
  return std::move(content).str();
}

struct AddressesFree {
  void operator()(ifaddrs* all) const { ::freeifaddrs(all); }
};

}  // namespace

std::set<std::string> interface_addresses() {
  std::set<std::string> addresses;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return addresses;
  const std::unique_ptr<ifaddrs, AddressesFree> owner(all);
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
  return addresses;
}

std::string default_route_interface(std::string_view route, std::string_view route6) {
  // Iface Destination Gateway Flags RefCnt Use Metric Mask ...; the metric is decimal
  const std::string zero(8, '0');
  const std::string ipv4 = least(route, 0, 6, 10, [&](const auto& words) {
    return words.size() > 7 && words[1] == zero && words[7] == zero;
  });
  if (!ipv4.empty()) return ipv4;
  // destination length source length gateway metric references uses flags interface; in hexadecimal
  const std::string any(32, '0');
  return least(route6, 9, 5, 16,
               [&](const auto& words) { return words[0] == any && words[1] == "00" && words[9] != "lo"; });
}

std::uint32_t default_route_netdev() {
  const std::string name =
      default_route_interface(content_of("/proc/net/route"), content_of("/proc/net/ipv6_route"));
  return name.empty() ? 0 : ::if_nametoindex(name.c_str());
}

}  // namespace rdma_exporter::probe
