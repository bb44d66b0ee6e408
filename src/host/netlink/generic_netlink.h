// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "host/netlink/netlink.h"

// What the families of generic netlink have in common (include/uapi/linux/genetlink.h): each message begins
// with struct genlmsghdr, and the controller knows the number of a family, which differs from boot to boot.
namespace rdma_exporter::host::generic_netlink {

/// The payload of a request without attributes.
std::vector<std::byte> message(std::uint8_t command, std::uint8_t version);

/// The attributes of a message; nullopt if it has another command or is cut off.
std::optional<Bytes> attributes(Bytes payload, std::uint8_t command);

/// nlmsg_type of a request to the controller.
extern const std::uint16_t kControl;
std::vector<std::byte> family_request(std::string_view name);
core::Result<std::uint16_t> parse_family(Bytes payload);

/// nlmsg_type of the family's requests. ENOENT: the kernel has no such family. Other errors are those of
/// ask().
core::Result<std::uint16_t> find_family(Netlink& netlink, std::string_view name);

}  // namespace rdma_exporter::host::generic_netlink
