// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace rdma_exporter::record {

/// Replaces addresses and names that identify a host or its users. Within one object, equal values get equal
/// replacements, in whatever form they appear. Replacements are numbered in order of appearance, so that the
/// originals cannot be computed from them. Not thread-safe.
///
/// The vendor's part of a MAC address or GUID stays. In a GUID that contains a MAC address (with ff:fe in its
/// middle, or 03:00 in NVIDIA's), the rest is replaced like that of the MAC address.
class Pseudonyms {
 public:
  using Guid = std::array<std::uint8_t, 8>;
  using Gid = std::array<std::uint8_t, 16>;
  using Mac = std::array<std::uint8_t, 6>;
  using Ipv4 = std::array<std::uint8_t, 4>;

  Mac mac(const Mac& real);
  Guid guid(const Guid& real);
  /// The default prefix (fe80::) stays.
  Guid subnet_prefix(const Guid& real);
  /// A GID or IPv6 address; an IPv4 address in it is replaced as by ipv4().
  Gid gid(const Gid& real);
  /// An address in 198.18.0.0/15, the range for device tests (RFC 2544). Loopback and 0.0.0.0 stay.
  Ipv4 ipv4(const Ipv4& real);

  /// "KIND-1", "KIND-2", ...
  std::string name(std::string_view kind, std::string_view real);
  /// As many hexadecimal digits as before, with dashes and underscores in the same places.
  std::string hex_id(std::string_view real);
  std::uint32_t number(std::string_view kind, std::string_view real);

 private:
  std::map<std::pair<std::string, std::string>, std::uint32_t> numbers_;
  std::map<std::string, std::uint32_t, std::less<>> last_;
};

}  // namespace rdma_exporter::record
