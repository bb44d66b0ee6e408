// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/result.h"

namespace rdma_exporter::probe {

/// A port's 128-bit address. On RoCE v2 it is the IP address in the packets: IPv6, or IPv4 mapped to
/// ::ffff:a.b.c.d.
struct Gid {
  std::array<std::uint8_t, 16> bytes{};

  bool operator==(const Gid&) const = default;
  bool zero() const { return *this == Gid{}; }
  bool ipv4() const;
  bool link_local() const;  ///< fe80::/10: the GID every port has, and which no router forwards
};

/// Parses an IPv4 or IPv6 address; a scope after % is refused.
core::Result<Gid> gid_of_address(std::string_view address);
/// "10.9.0.1" or "fd00::1".
std::string address_text(const Gid& gid);
/// Length of the common prefix in bits.
unsigned common_prefix(const Gid& a, const Gid& b);

}  // namespace rdma_exporter::probe
