// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "host/netlink/netlink.h"

// The questions to the seams of a host, as text, and their answers: recorder and player must spell them
// alike.
namespace rdma_exporter::record {

/// "sysfs read class/infiniband/mlx5_0/fw_ver". `operation`: list, link, canonical, stat, dir, open, read.
std::string file_question(std::string_view tree, std::string_view operation, std::string_view path);

/// Flags of the requests that Netlink::dump() sends.
inline constexpr std::uint16_t kDumpFlags = 0x300;  // NLM_F_DUMP

/// "netlink rdma 5121 768 0800010000000000": message type, flags, payload.
std::string netlink_question(host::NetlinkProtocol protocol, std::uint16_t type, std::uint16_t flags,
                             host::Bytes payload);

/// "ethtool eth0 16 37000000...": size of the buffer, and the request in it.
std::string ethtool_question(std::string_view netdev, std::span<const std::byte> buffer);

/// "verbs mtu mlx5_0 1", "verbs limits mlx5_0".
std::string port_mtu_question(std::string_view device, std::uint32_t port);
std::string device_limits_question(std::string_view device);

/// The question for host::device_nodes(). A part is a name and who may open it: "uverbs0 all group".
inline constexpr std::string_view kDeviceNodesQuestion = "device nodes";

/// Lower-case hexadecimal digits, two per byte.
std::string to_hex(std::string_view bytes);
/// False if `text` does not consist of such digits.
bool from_hex(std::string_view text, std::string& bytes);

/// Converts bytes from the kernel to the characters of a part, and back.
inline std::string_view chars(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline host::Bytes bytes(std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); }

/// The answer of a host's seam to one question.
struct Answer {
  /// A text, the entries of a list, or the messages of netlink; after an error, those that preceded it.
  std::vector<std::string> parts = {};
  /// "EINVAL", "too_long", "parse", or the number of an errno without a name. Empty if there was no error.
  std::string error = {};

  bool operator==(const Answer&) const = default;
};

/// All questions of one moment with their answers.
using Snapshot = std::map<std::string, Answer, std::less<>>;

/// Converts an error to a word, and back; an unknown word becomes EIO.
std::string error_word(const core::Error& error);
core::Error error_of_word(std::string_view word);

}  // namespace rdma_exporter::record
