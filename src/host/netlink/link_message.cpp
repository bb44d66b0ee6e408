// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/netlink/link_message.h"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "host/netlink/netlink_attr.h"
#include "host/netlink/netlink_message.h"

namespace rdma_exporter::host {
namespace {

// struct ifinfomsg and attributes; empty for a message that is not about the interface itself.
core::Result<std::string_view> parse_link(Bytes payload) {
  ifinfomsg link;  // NOLINT(cppcoreguidelines-pro-type-member-init): copied into
  if (payload.size() < sizeof link) return core::parse_error();
  std::memcpy(&link, payload.data(), sizeof link);
  if (link.ifi_family != AF_UNSPEC) return std::string_view();
  std::string_view name;
  const bool whole = for_each_attr(payload.subspan(NLMSG_ALIGN(sizeof link)), [&](const Attr& attr) {
    if (attr.type == IFLA_IFNAME) name = attr.text();
  });
  if (!whole || name.empty()) return core::parse_error();
  return name;
}

}  // namespace

core::Result<void> parse_links(Bytes datagram, const std::function<void(std::string_view)>& on_link) {
  core::Result<void> result;
  const bool whole = for_each_message(datagram, [&](std::uint16_t type, Bytes payload) {
    if (!result || (type != RTM_NEWLINK && type != RTM_DELLINK)) return;
    const auto name = parse_link(payload);
    if (!name) result = tl::unexpected(name.error());
    if (name && !name->empty()) on_link(*name);
  });
  if (!whole && result) result = core::parse_error();
  return result;
}

}  // namespace rdma_exporter::host
