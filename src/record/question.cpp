// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "record/question.h"

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

}  // namespace rdma_exporter::record
