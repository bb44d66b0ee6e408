// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/ethtool/link_modes.h"

#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "host/netlink/netlink_attr.h"

namespace rdma_exporter::host::genl_ethtool {
namespace {

// "400000baseCR4/Full": megabits per second, then the medium. Other bits ("Autoneg", "FIBRE", "RS") have no
// number.
std::optional<double> speed_of(std::string_view mode) {
  constexpr double kBytesPerMegabit = 1e6 / 8;
  std::uint32_t megabits = 0;
  const auto [end, error] = std::from_chars(mode.data(), mode.data() + mode.size(), megabits);
  const std::string_view rest = mode.substr(static_cast<std::size_t>(end - mode.data()));
  if (error != std::errc{} || !rest.starts_with("base")) return std::nullopt;
  return megabits * kBytesPerMegabit;
}

// A bitset with a mask lists each bit of the mask, here the supported modes; those that are advertised also
// have a flag (net/ethtool/bitset.c).
bool parse_bits(Bytes bitset, std::optional<double>& fastest) {
  bool whole = true;
  const auto on_bit = [&](const Attr& bit) {
    if (bit.type != ETHTOOL_A_BITSET_BITS_BIT) return;
    whole = for_each_attr(bit.data,
                          [&](const Attr& field) {
                            if (field.type != ETHTOOL_A_BITSET_BIT_NAME) return;
                            if (const auto speed = speed_of(field.text()))
                              fastest = std::max(fastest.value_or(0), *speed);
                          }) &&
            whole;
  };
  const bool outer = for_each_attr(bitset, [&](const Attr& attr) {
    if (attr.type == ETHTOOL_A_BITSET_BITS) whole = for_each_attr(attr.data, on_bit) && whole;
  });
  return outer && whole;
}

}  // namespace

std::vector<std::byte> supported_modes_request(std::string_view netdev) {
  std::vector<std::byte> header;
  append_text(header, ETHTOOL_A_HEADER_DEV_NAME, netdev);
  const genlmsghdr command{ETHTOOL_MSG_LINKMODES_GET, ETHTOOL_GENL_VERSION, 0};
  const Bytes bytes = std::as_bytes(std::span(&command, 1));
  std::vector<std::byte> payload(bytes.begin(), bytes.end());
  append_attr(payload, ETHTOOL_A_LINKMODES_HEADER | NLA_F_NESTED, header);
  return payload;
}

core::Result<std::optional<double>> parse_fastest_mode(Bytes payload) {
  genlmsghdr command;  // NOLINT(cppcoreguidelines-pro-type-member-init): copied into
  if (payload.size() < sizeof command) return core::parse_error();
  std::memcpy(&command, payload.data(), sizeof command);
  if (command.cmd != ETHTOOL_MSG_LINKMODES_GET_REPLY) return core::parse_error();
  std::optional<double> fastest;
  bool bits_whole = true;
  const bool whole = for_each_attr(payload.subspan(NLMSG_ALIGN(sizeof command)), [&](const Attr& attr) {
    if (attr.type == ETHTOOL_A_LINKMODES_OURS) bits_whole = parse_bits(attr.data, fastest);
  });
  if (!whole || !bits_whole) return core::parse_error();
  return fastest;
}

}  // namespace rdma_exporter::host::genl_ethtool
