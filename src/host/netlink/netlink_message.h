// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <linux/netlink.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "host/netlink/netlink.h"

namespace rdma_exporter::host {

/// Calls `on_message(type, payload)` for each message in a datagram. False when the bytes are not a whole
/// sequence of messages.
template <typename OnMessage>
bool for_each_message(Bytes datagram, OnMessage&& on_message) {
  while (!datagram.empty()) {
    nlmsghdr header;  // NOLINT(cppcoreguidelines-pro-type-member-init): copied into
    if (datagram.size() < sizeof header) return false;
    std::memcpy(&header, datagram.data(), sizeof header);
    if (header.nlmsg_len < sizeof header || header.nlmsg_len > datagram.size()) return false;
    on_message(std::uint16_t{header.nlmsg_type},
               datagram.subspan(sizeof header, header.nlmsg_len - sizeof header));
    const std::size_t padded = NLMSG_ALIGN(std::size_t{header.nlmsg_len});
    datagram = datagram.subspan(padded < datagram.size() ? padded : datagram.size());
  }
  return true;
}

}  // namespace rdma_exporter::host
