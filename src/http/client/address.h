// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

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

}  // namespace rdma_exporter::http
