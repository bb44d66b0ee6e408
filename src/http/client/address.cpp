// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "http/client/address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

namespace rdma_exporter::http {
namespace {

bool good_ipv6(std::string_view host) {
  in6_addr ignored{};
  const std::string address(host.substr(0, host.find('%')));
  return ::inet_pton(AF_INET6, address.c_str(), &ignored) == 1;
}

bool good_host(std::string_view host) {
  const auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_' || c == ':' || c == '%';
  };
  if (host.empty() || host.size() > kMaxHost || !std::all_of(host.begin(), host.end(), good)) return false;
  return host.find_first_of(":%") == std::string_view::npos || good_ipv6(host);
}

core::Result<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port == 0)
    return core::parse_error("has an invalid port");
  return port;
}

}  // namespace

core::Result<Address> parse_address(std::string_view text) {
  std::string_view host = text;
  std::string_view port;
  bool has_port = false;
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    if (end == std::string_view::npos) return core::parse_error("has no ]");
    host = text.substr(1, end - 1);
    if (!good_ipv6(host)) return core::parse_error("has no valid IPv6 address in its brackets");
    port = text.substr(end + 1);
    has_port = port.starts_with(':');
    if (!port.empty() && !has_port) return core::parse_error("has something other than a port after ]");
  } else if (const auto colon = text.find(':'); colon == text.rfind(':') && colon != std::string_view::npos) {
    host = text.substr(0, colon);
    port = text.substr(colon);
    has_port = true;
  }
  if (!good_host(host)) return core::parse_error("has no host");
  Address address{std::string(host), 0};
  if (!has_port) return address;
  const auto number = parse_port(port.substr(1));
  if (!number) return tl::unexpected(number.error());
  address.port = *number;
  return address;
}

}  // namespace rdma_exporter::http
