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

/// Other names for what says whose a host is: within one object the same for the same, in whatever form it is
/// met. Numbered as they come, so that nothing can be computed back. Not thread-safe.
///
/// Of a MAC address and of a GUID the maker's part stays. The rest of a GUID that is made of a MAC address
/// (with ff:fe in its middle, or 03:00 as NVIDIA does) becomes what that of the MAC becomes.
class Pseudonyms {
 public:
  using Guid = std::array<std::uint8_t, 8>;
  using Gid = std::array<std::uint8_t, 16>;
  using Mac = std::array<std::uint8_t, 6>;
  using Ipv4 = std::array<std::uint8_t, 4>;

  Mac mac(const Mac& real);
  Guid guid(const Guid& real);
  /// The default one (fe80::) stays.
  Guid subnet_prefix(const Guid& real);
  /// A GID or an IPv6 address; of an IPv4 address in it the same as by ipv4().
  Gid gid(const Gid& real);
  /// One of 198.18.0.0/15, the range for tests of devices (RFC 2544). Loopback and any stay.
  Ipv4 ipv4(const Ipv4& real);

  /// "KIND-1", "KIND-2", ...
  std::string name(std::string_view kind, std::string_view real);
  /// As many hexadecimal digits, with dashes and underscores where they were.
  std::string hex_id(std::string_view real);
  std::uint32_t number(std::string_view kind, std::string_view real);

 private:
  std::map<std::pair<std::string, std::string>, std::uint32_t> numbers_;
  std::map<std::string, std::uint32_t, std::less<>> last_;
};

}  // namespace rdma_exporter::record
