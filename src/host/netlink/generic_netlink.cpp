// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/netlink/generic_netlink.h"

#include <linux/genetlink.h>

#include <cstring>
#include <span>

#include "host/netlink/netlink_attr.h"

namespace rdma_exporter::host::generic_netlink {

std::vector<std::byte> message(std::uint8_t command, std::uint8_t version) {
  const genlmsghdr header{command, version, 0};
  const Bytes bytes = std::as_bytes(std::span(&header, 1));
  return {bytes.begin(), bytes.end()};
}

std::optional<Bytes> attributes(Bytes payload, std::uint8_t command) {
  genlmsghdr header;  // NOLINT(cppcoreguidelines-pro-type-member-init): copied into
  if (payload.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, payload.data(), sizeof header);
  if (header.cmd != command) return std::nullopt;
  return payload.subspan(sizeof header);
}

const std::uint16_t kControl = GENL_ID_CTRL;

std::vector<std::byte> family_request(std::string_view name) {
  std::vector<std::byte> payload = message(CTRL_CMD_GETFAMILY, 1);
  append_text(payload, CTRL_ATTR_FAMILY_NAME, name);
  return payload;
}

core::Result<std::uint16_t> parse_family(Bytes payload) {
  const auto bytes = attributes(payload, CTRL_CMD_NEWFAMILY);
  std::optional<std::uint16_t> id;
  const bool whole = bytes && for_each_attr(*bytes, [&](const Attr& attr) {
                       if (attr.type == CTRL_ATTR_FAMILY_ID) id = attr.number<std::uint16_t>();
                     });
  if (!whole || !id) return core::parse_error();
  return *id;
}

core::Result<std::uint16_t> find_family(Netlink& netlink, std::string_view name) {
  return ask<std::uint16_t>(netlink, kControl, family_request(name), parse_family);
}

}  // namespace rdma_exporter::host::generic_netlink
