// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace rdma_exporter::http {

inline constexpr std::size_t kMaxHost = 253;  ///< length of a DNS name

/// The address of a server or peer.
struct Address {
  std::string host;        ///< name or address, without brackets
  std::uint16_t port = 0;  ///< 0: not given
  auto operator<=>(const Address&) const = default;
};

/// Parses "host", "host:port", "192.0.2.1", "[2001:db8::1]:port" or "2001:db8::1". The context of an error
/// says what is wrong, and is meant to be put after the text.
core::Result<Address> parse_address(std::string_view text);

/// The address of something on a server.
struct Url {
  bool tls = false;
  std::string host;        ///< without brackets
  std::uint16_t port = 0;  ///< 80 or 443 if the URL has none
  std::string target;      ///< path and query, at least "/"

  std::string host_header() const;
};

/// Parses "http://host[:port][/path][?query]", or the same with https. User names and passwords are rejected,
/// because they would be shown wherever the source is named. The context of an error says what is wrong, and
/// is meant to be put after the text.
core::Result<Url> parse_url(std::string_view text);

/// Returns all addresses of a name, in order. Blocks for as long as the host's resolver does. ENOENT: there
/// is no such name; EAGAIN: no name server answers.
core::Result<std::vector<std::string>> resolve(const std::string& name);

}  // namespace rdma_exporter::http
