// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/rdma/gid.h"

#include <arpa/inet.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace rdma_exporter::probe {
namespace {

constexpr std::array<std::uint8_t, 12> kIpv4Prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

}  // namespace

bool Gid::ipv4() const { return std::equal(kIpv4Prefix.begin(), kIpv4Prefix.end(), bytes.begin()); }

bool Gid::link_local() const { return bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80; }

core::Result<Gid> gid_of_address(std::string_view address) {
  const std::string text(address);  // inet_pton() needs a terminating NUL
  Gid gid;
  if (::inet_pton(AF_INET, text.c_str(), gid.bytes.data() + kIpv4Prefix.size()) == 1) {
    std::copy(kIpv4Prefix.begin(), kIpv4Prefix.end(), gid.bytes.begin());
    return gid;
  }
  if (::inet_pton(AF_INET6, text.c_str(), gid.bytes.data()) == 1) return gid;
  return core::config_error("\"" + text + "\" is not an IP address");
}

std::string address_text(const Gid& gid) {
  char text[INET6_ADDRSTRLEN] = {};
  const bool v4 = gid.ipv4();
  const std::uint8_t* begin = gid.bytes.data() + (v4 ? kIpv4Prefix.size() : 0);
  ::inet_ntop(v4 ? AF_INET : AF_INET6, begin, text, sizeof(text));
  return text;
}

unsigned common_prefix(const Gid& a, const Gid& b) {
  for (std::size_t i = 0; i < a.bytes.size(); ++i) {
    const auto differs = static_cast<std::uint8_t>(a.bytes[i] ^ b.bytes[i]);
    if (differs != 0) return static_cast<unsigned>(8 * i) + static_cast<unsigned>(std::countl_zero(differs));
  }
  return 128;
}

}  // namespace rdma_exporter::probe
