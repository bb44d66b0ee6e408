// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "host/netlink/netlink.h"

// Addresses of network interfaces over rtnetlink (include/uapi/linux/if_addr.h, net/ipv4/devinet.c,
// net/ipv6/addrconf.c). Pure functions from and to bytes.
namespace rdma_exporter::host {

/// nlmsg_type of the dump of all addresses, and its payload. Needs no privilege.
extern const std::uint16_t kGetAddresses;
std::vector<std::byte> addresses_request();

struct InterfaceAddress {
  std::uint32_t interface = 0;  ///< ifindex
  std::string text;             ///< "10.9.0.1", "2001:db8::1"
  std::string gid;              ///< the GID that RoCE makes of it, as sysfs prints GIDs
  bool link_local = false;
};

/// One message of the dump; nullopt if it has no usable address (another family, an IPv6 address that is
/// still tentative or a duplicate).
core::Result<std::optional<InterfaceAddress>> parse_address(Bytes payload);

/// The message with each address in it changed by `change`: 4 octets of IPv4 or 16 of IPv6. Incomplete
/// attributes are removed.
std::vector<std::byte> with_addresses(Bytes payload,
                                      const std::function<void(std::span<std::byte> address)>& change);

}  // namespace rdma_exporter::host
