// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "http/client/address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <memory>

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

std::uint16_t default_port(bool tls) { return tls ? 443 : 80; }

int errno_of(int error) {
  switch (error) {
    case EAI_SYSTEM:
      return errno;
    case EAI_AGAIN:
      return EAGAIN;
    case EAI_NONAME:
    case EAI_NODATA:
      return ENOENT;
    case EAI_MEMORY:
      return ENOMEM;
    default:
      return EPROTO;
  }
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

std::string Url::host_header() const {
  const std::string name = host.find(':') == std::string::npos ? host : "[" + host + "]";
  return port == default_port(tls) ? name : name + ":" + std::to_string(port);
}

core::Result<Url> parse_url(std::string_view text) {
  Url url;
  constexpr std::string_view kPlain = "http://";
  constexpr std::string_view kTls = "https://";
  url.tls = text.starts_with(kTls);
  if (!url.tls && !text.starts_with(kPlain))
    return core::parse_error("starts with neither http:// nor https://");
  text.remove_prefix(url.tls ? kTls.size() : kPlain.size());
  const auto end = text.find_first_of("/?#");
  const std::string_view authority = text.substr(0, end);
  if (authority.find('@') != std::string_view::npos) return core::parse_error("contains a user name");
  const auto address = parse_address(authority);
  if (!address) return tl::unexpected(address.error());
  url.host = address->host;
  url.port = address->port != 0 ? address->port : default_port(url.tls);
  if (end != std::string_view::npos) url.target = text.substr(end, text.find('#') - end);
  if (!url.target.starts_with('/')) url.target.insert(0, "/");
  // What is not printable, or a blank, would end the request line.
  if (std::any_of(url.target.begin(), url.target.end(), [](char c) { return c <= ' ' || c > '~'; }))
    return core::parse_error("contains a blank or a character that has to be written as %XX");
  return url;
}

core::Result<std::vector<std::string>> resolve(const std::string& name) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;  // else each address comes once for every type
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(name.c_str(), nullptr, &hints, &found); error != 0)
    return core::os_error(errno_of(error), name);
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(found, ::freeaddrinfo);
  std::vector<std::string> addresses;
  for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
    std::array<char, 128> text{};
    if (::getnameinfo(entry->ai_addr, entry->ai_addrlen, text.data(), text.size(), nullptr, 0,
                      NI_NUMERICHOST) == 0)
      addresses.emplace_back(text.data());
  }
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  return addresses;
}

}  // namespace rdma_exporter::http
