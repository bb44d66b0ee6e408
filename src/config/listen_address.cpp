// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "config/listen_address.h"

#include <arpa/inet.h>
#include <sys/un.h>

#include <algorithm>
#include <charconv>

#include "core/text/number.h"

namespace rdma_exporter::config {
namespace {

constexpr std::string_view kUnix = "unix:/";  // "unix:9400" is a host of that name
constexpr std::size_t kMaxNameBytes = 253;    // RFC 1035 2.3.4, as text
constexpr std::size_t kMaxLabelBytes = 63;

bool is_alnum(char c) { return core::is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool is_address(int family, std::string_view text) {
  if (text.find('\0') != std::string_view::npos) return false;  // inet_pton() would stop there and succeed
  in6_addr address{};
  return inet_pton(family, std::string(text).c_str(), &address) == 1;
}

bool is_label(std::string_view label) {
  return !label.empty() && label.size() <= kMaxLabelBytes && label.front() != '-' && label.back() != '-' &&
         std::all_of(label.begin(), label.end(), [](char c) { return is_alnum(c) || c == '-' || c == '_'; });
}

bool is_host_name(std::string_view name) {
  if (name.size() > kMaxNameBytes) return false;
  while (true) {
    const auto dot = name.find('.');
    if (!is_label(name.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    name.remove_prefix(dot + 1);
  }
}

/// "::1" or "fe80::1%eth0": the zone names the interface that a link-local address needs.
bool is_ipv6(std::string_view text) {
  const auto percent = text.find('%');
  if (!is_address(AF_INET6, text.substr(0, percent))) return false;
  return percent == std::string_view::npos || is_label(text.substr(percent + 1));
}

core::Result<ListenAddress> parse_unix(std::string_view path) {
  if (path.ends_with('/')) return core::config_error("has no socket name");
  if (path.size() >= sizeof(sockaddr_un::sun_path))
    return core::config_error("has a path longer than 107 bytes");
  return ListenAddress{{}, 0, std::string(path)};
}

core::Result<std::string> parse_host(std::string_view host) {
  if (host.empty()) return std::string();
  if (host.front() == '[') {
    if (host.back() != ']') return core::config_error("has no ] before the port");
    host = host.substr(1, host.size() - 2);
    if (!is_ipv6(host)) return core::config_error("has no valid IPv6 address in its brackets");
    return std::string(host);
  }
  if (host.find(':') != std::string_view::npos)
    return core::config_error("has an IPv6 address without brackets");
  // "1.2.3" is a valid host name, but surely an IPv4 address with a part missing.
  const bool numeric =
      std::all_of(host.begin(), host.end(), [](char c) { return core::is_digit(c) || c == '.'; });
  if (numeric && !is_address(AF_INET, host)) return core::config_error("has an invalid IPv4 address");
  if (host == "*")
    return core::config_error("has * as its host: leave the host out to listen on all addresses");
  if (!numeric && !is_host_name(host)) return core::config_error("has an invalid host name");
  return std::string(host);
}

}  // namespace

core::Result<ListenAddress> parse_listen_address(std::string_view text) {
  if (text.starts_with(kUnix)) return parse_unix(text.substr(kUnix.size() - 1));
  if (text.find("://") != std::string_view::npos) return core::config_error("is a URL, not an address");
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return core::config_error("has no port");
  const std::string_view digits = text.substr(colon + 1);
  std::uint16_t port = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (status != std::errc() || end != digits.data() + digits.size())
    return core::config_error("has an invalid port");
  auto host = parse_host(text.substr(0, colon));
  if (!host) return tl::unexpected(host.error());
  return ListenAddress{*std::move(host), port, {}};
}

}  // namespace rdma_exporter::config
