// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <linux/netlink.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "host/netlink/netlink.h"

// How the bytes of netlink are taken apart: messages, and the attributes in them.
namespace rdma_exporter::host {

/// Calls `on_message(header, payload)` for each message in a datagram. False when the bytes are not a whole
/// sequence of messages.
template <typename OnMessage>
bool for_each_message(Bytes datagram, OnMessage&& on_message) {
  while (!datagram.empty()) {
    nlmsghdr header;  // NOLINT(cppcoreguidelines-pro-type-member-init): copied into
    if (datagram.size() < sizeof header) return false;
    std::memcpy(&header, datagram.data(), sizeof header);
    if (header.nlmsg_len < sizeof header || header.nlmsg_len > datagram.size()) return false;
    on_message(header, datagram.subspan(sizeof header, header.nlmsg_len - sizeof header));
    const std::size_t padded = NLMSG_ALIGN(std::size_t{header.nlmsg_len});
    datagram = datagram.subspan(padded < datagram.size() ? padded : datagram.size());
  }
  return true;
}

/// One netlink attribute (struct nlattr), its data still inside the message.
struct Attr {
  std::uint16_t type;  ///< without the NLA_F_NESTED and NLA_F_NET_BYTEORDER bits
  Bytes data;

  /// The value in host byte order; nullopt if the attribute has another size. Copied, as u64 attributes are
  /// only 4-byte aligned.
  template <typename T>
  std::optional<T> number() const {
    if (data.size() != sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, data.data(), sizeof value);
    return value;
  }

  /// A string up to its first NUL; one without NUL ends with the attribute.
  std::string_view text() const {
    const std::string_view whole(reinterpret_cast<const char*>(data.data()), data.size());
    return whole.substr(0, whole.find('\0'));
  }
};

/// Calls `on_attr(const Attr&)` for each attribute in `bytes`. False when the bytes are not a whole sequence
/// of attributes (truncated, a length below the header's or beyond the end).
template <typename OnAttr>
bool for_each_attr(Bytes bytes, OnAttr&& on_attr) {
  while (!bytes.empty()) {
    nlattr header;  // NOLINT(cppcoreguidelines-pro-type-member-init): copied into
    if (bytes.size() < sizeof header) return false;
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.nla_len < sizeof header || header.nla_len > bytes.size()) return false;
    on_attr(Attr{static_cast<std::uint16_t>(header.nla_type & NLA_TYPE_MASK),
                 bytes.subspan(sizeof header, header.nla_len - sizeof header)});
    const std::size_t padded = NLA_ALIGN(header.nla_len);
    bytes = bytes.subspan(padded < bytes.size() ? padded : bytes.size());
  }
  return true;
}

/// Appends one attribute and its padding to a request.
inline void append_attr(std::vector<std::byte>& out, std::uint16_t type, Bytes data) {
  const nlattr header{static_cast<std::uint16_t>(sizeof(nlattr) + data.size()), type};
  const Bytes head = std::as_bytes(std::span(&header, 1));
  out.insert(out.end(), head.begin(), head.end());
  out.insert(out.end(), data.begin(), data.end());
  out.resize((out.size() + NLA_ALIGNTO - 1) / NLA_ALIGNTO * NLA_ALIGNTO);
}

/// The same for a number in host byte order.
template <typename T>
void append_number(std::vector<std::byte>& out, std::uint16_t type, T value) {
  append_attr(out, type, std::as_bytes(std::span(&value, 1)));
}

/// The same for a string, with its NUL.
inline void append_text(std::vector<std::byte>& out, std::uint16_t type, std::string_view text) {
  std::vector<std::byte> data(text.size() + 1);
  std::memcpy(data.data(), text.data(), text.size());
  append_attr(out, type, data);
}

}  // namespace rdma_exporter::host
