// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "record/question.h"

#include <cerrno>
#include <charconv>

#include "host/ethtool/ethtool.h"

namespace rdma_exporter::record {
namespace {

std::string_view name(host::NetlinkProtocol protocol) {
  switch (protocol) {
    case host::NetlinkProtocol::rdma:
      return "rdma";
    case host::NetlinkProtocol::route:
      return "route";
    case host::NetlinkProtocol::generic:
      return "generic";
  }
  return "";
}

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

std::string words(std::initializer_list<std::string_view> all) {
  std::string text;
  for (const std::string_view word : all) text.append(text.empty() ? "" : " ").append(word);
  return text;
}

constexpr int kLastErrno = 524;  // ENOTSUPP, the highest errno that core::errno_name() knows

}  // namespace

std::string file_question(std::string_view tree, std::string_view operation, std::string_view path) {
  return words({tree, operation, path});
}

std::string netlink_question(host::NetlinkProtocol protocol, std::uint16_t type, std::uint16_t flags,
                             host::Bytes payload) {
  return words(
      {"netlink", name(protocol), std::to_string(type), std::to_string(flags), to_hex(chars(payload))});
}

std::string ethtool_question(std::string_view netdev, std::span<const std::byte> buffer) {
  const auto request = buffer.first(host::ethtool_request_size(buffer));
  return words({"ethtool", netdev, std::to_string(buffer.size()), to_hex(chars(request))});
}

std::string port_mtu_question(std::string_view device, std::uint32_t port) {
  return words({"verbs mtu", device, std::to_string(port)});
}

std::string device_limits_question(std::string_view device) { return words({"verbs limits", device}); }

std::string to_hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 0xFU];
  }
  return text;
}

bool from_hex(std::string_view text, std::string& bytes) {
  if (text.size() % 2 != 0) return false;
  bytes.clear();
  bytes.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = digit(text[i]);
    const int low = digit(text[i + 1]);
    if (high < 0 || low < 0) return false;
    bytes += static_cast<char>(high * 16 + low);
  }
  return true;
}

std::string error_word(const core::Error& error) {
  const std::string_view word = core::reason(error);
  // core::errno_name() has one word for all unnamed values, but the kernel has further ones
  // (include/linux/errno.h).
  return word == "errno_other" ? std::to_string(error.os_errno) : std::string(word);
}

core::Error error_of_word(std::string_view word) {
  if (word == "parse") return core::parse_error().value();
  if (word == "too_long") return core::too_long_error().value();
  for (int number = 1; number <= kLastErrno; ++number)
    if (core::errno_name(number) == word) return core::os_error(number).value();
  int number = 0;
  const auto [end, failed] = std::from_chars(word.data(), word.data() + word.size(), number);
  const bool is_number = failed == std::errc() && end == word.data() + word.size() && number > 0;
  return core::os_error(is_number ? number : EIO).value();
}

}  // namespace rdma_exporter::record
