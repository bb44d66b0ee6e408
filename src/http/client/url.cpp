// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "http/client/url.h"

#include <algorithm>

#include "http/client/address.h"

namespace rdma_exporter::http {
namespace {

std::uint16_t default_port(bool tls) { return tls ? 443 : 80; }

}  // namespace

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

}  // namespace rdma_exporter::http
