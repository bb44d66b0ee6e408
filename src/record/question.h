// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "host/netlink/netlink.h"

// What can be asked at the seams of a host, as text: who records and who replays have to mean the same.
namespace rdma_exporter::record {

/// "sysfs read class/infiniband/mlx5_0/fw_ver". `operation`: list, link, canonical, stat, dir, open, read.
std::string file_question(std::string_view tree, std::string_view operation, std::string_view path);

/// Flags of what is asked by Netlink::dump().
inline constexpr std::uint16_t kDumpFlags = 0x300;  // NLM_F_DUMP

/// "netlink rdma 5121 768 0800010000000000": message type, flags, payload.
std::string netlink_question(host::NetlinkProtocol protocol, std::uint16_t type, std::uint16_t flags,
                             host::Bytes payload);

/// "ethtool eth0 16 37000000...": size of the buffer, and of what is in it the request.
std::string ethtool_question(std::string_view netdev, std::span<const std::byte> buffer);

/// "verbs mtu mlx5_0 1", "verbs limits mlx5_0".
std::string port_mtu_question(std::string_view device, std::uint32_t port);
std::string device_limits_question(std::string_view device);

/// What host::device_nodes() is asked. A part is a name and for whom it is: "uverbs0 all group".
inline constexpr std::string_view kDeviceNodesQuestion = "device nodes";

/// Lower-case hexadecimal digits, two a byte.
std::string to_hex(std::string_view bytes);
/// False when `text` is not such digits.
bool from_hex(std::string_view text, std::string& bytes);

/// Bytes of the kernel as the characters of a part, and back.
inline std::string_view chars(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline host::Bytes bytes(std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); }

}  // namespace rdma_exporter::record
