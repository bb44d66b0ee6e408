// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/netlink/address_message.h"

#include <arpa/inet.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

#include "host/netlink/netlink_attr.h"

namespace rdma_exporter::host {
namespace {

using Octets = std::array<std::byte, 16>;

// Eight groups of four digits, as core/sysfs.c prints a GID.
std::string gid_text(const Octets& octets) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < octets.size(); ++i) {
    if (i > 0 && i % 2 == 0) text += ':';
    const auto octet = std::to_integer<unsigned>(octets[i]);
    text += kDigits[octet >> 4U];
    text += kDigits[octet & 0xfU];
  }
  return text;
}

// An IPv4 address becomes an IPv4-mapped IPv6 one (include/rdma/ib_addr.h rdma_ip2gid).
std::optional<Octets> gid_octets(std::uint8_t family, Bytes address) {
  Octets octets{};
  if (family == AF_INET && address.size() == 4) {
    octets[10] = octets[11] = std::byte{0xff};
    std::copy(address.begin(), address.end(), octets.begin() + 12);
    return octets;
  }
  if (family != AF_INET6 || address.size() != octets.size()) return std::nullopt;
  std::copy(address.begin(), address.end(), octets.begin());
  return octets;
}

}  // namespace

const std::uint16_t kGetAddresses = RTM_GETADDR;

std::vector<std::byte> addresses_request() {
  const ifaddrmsg all{};
  const Bytes bytes = std::as_bytes(std::span(&all, 1));
  return {bytes.begin(), bytes.end()};
}

core::Result<std::optional<InterfaceAddress>> parse_address(Bytes payload) {
  ifaddrmsg header;  // NOLINT(cppcoreguidelines-pro-type-member-init): copied into
  if (payload.size() < sizeof header) return core::parse_error();
  std::memcpy(&header, payload.data(), sizeof header);
  if (header.ifa_family != AF_INET && header.ifa_family != AF_INET6) return std::nullopt;
  std::uint32_t flags = header.ifa_flags;
  Bytes address;
  Bytes local;  // differs from the address on point-to-point links, where that is the peer's
  const bool whole = for_each_attr(payload.subspan(NLMSG_ALIGN(sizeof header)), [&](const Attr& attr) {
    if (attr.type == IFA_ADDRESS) address = attr.data;
    if (attr.type == IFA_LOCAL) local = attr.data;
    if (attr.type == IFA_FLAGS) flags = attr.number<std::uint32_t>().value_or(flags);
  });
  const Bytes own = local.empty() ? address : local;
  const auto octets = gid_octets(header.ifa_family, own);
  if (!whole || !octets) return core::parse_error();
  if ((flags & (IFA_F_TENTATIVE | IFA_F_DADFAILED)) != 0) return std::nullopt;
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(header.ifa_family, own.data(), text.data(), text.size());
  return InterfaceAddress{header.ifa_index, text.data(), gid_text(*octets),
                          header.ifa_scope == RT_SCOPE_LINK};
}

std::vector<std::byte> with_addresses(Bytes payload,
                                      const std::function<void(std::span<std::byte> address)>& change) {
  constexpr std::array<std::uint16_t, 5> kAddresses{IFA_ADDRESS, IFA_LOCAL, IFA_BROADCAST, IFA_ANYCAST,
                                                    IFA_MULTICAST};
  const Bytes header = payload.first(std::min<std::size_t>(NLMSG_ALIGN(sizeof(ifaddrmsg)), payload.size()));
  std::vector<std::byte> out(header.begin(), header.end());
  for_each_attr(payload.subspan(header.size()), [&](const Attr& attr) {
    std::vector<std::byte> data(attr.data.begin(), attr.data.end());
    if (std::find(kAddresses.begin(), kAddresses.end(), attr.type) != kAddresses.end()) change(data);
    append_attr(out, attr.type, data);
  });
  return out;
}

}  // namespace rdma_exporter::host
