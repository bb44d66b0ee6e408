// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "http/stream.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>

namespace rdma_exporter::http {

namespace {

std::string to_text(int family, const void* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  return ::inet_ntop(family, address, text.data(), text.size()) == nullptr ? "" : text.data();
}

}  // namespace

std::string peer_address(const StreamSocket& socket) {
  boost::system::error_code error;
  const auto endpoint = socket.remote_endpoint(error);
  if (error) return {};
  const sockaddr* const address = endpoint.data();
  if (address->sa_family == AF_UNIX) return "unix";
  if (address->sa_family == AF_INET)
    return to_text(AF_INET, &reinterpret_cast<const sockaddr_in*>(address)->sin_addr);
  if (address->sa_family != AF_INET6) return {};
  const in6_addr& v6 = reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
  // A client that came over IPv4 to a socket that takes both.
  if (IN6_IS_ADDR_V4MAPPED(&v6)) return to_text(AF_INET, &v6.s6_addr[12]);
  return to_text(AF_INET6, &v6);
}

}  // namespace rdma_exporter::http
