// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Modified copies of recorded answers.
#pragma once

#include <rdma/rdma_netlink.h>

#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "host/netlink/netlink_attr.h"
#include "tests/unit/support/recorded_netlink.h"

namespace rdma_exporter::test {

inline void append_attr(Message& out, std::uint16_t type, host::Bytes data) {
  const nlattr header{static_cast<std::uint16_t>(sizeof(nlattr) + data.size()), type};
  const auto* bytes = reinterpret_cast<const std::byte*>(&header);
  out.insert(out.end(), bytes, bytes + sizeof header);
  out.insert(out.end(), data.begin(), data.end());
  out.resize((out.size() + NLA_ALIGNTO - 1) / NLA_ALIGNTO * NLA_ALIGNTO);
}

inline std::string_view entry_name(host::Bytes entry) {
  std::string_view name;
  host::for_each_attr(entry, [&](const host::Attr& attr) {
    if (attr.type == RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME) name = attr.text();
  });
  return name;
}

/// `answer` with each entry of a table, of counters by default, replaced by what `change` makes of it; an
/// empty one is left out.
inline Message with_entries(const Message& answer, const std::function<Message(host::Bytes entry)>& change,
                            std::uint16_t of_table = RDMA_NLDEV_ATTR_STAT_HWCOUNTERS) {
  Message out;
  host::for_each_attr(answer, [&](const host::Attr& attr) {
    if (attr.type != of_table) return append_attr(out, attr.type, attr.data);
    Message table;
    host::for_each_attr(attr.data, [&](const host::Attr& entry) {
      const Message changed = change(entry.data);
      if (!changed.empty()) append_attr(table, entry.type | NLA_F_NESTED, changed);
    });
    append_attr(out, attr.type | NLA_F_NESTED, table);
  });
  return out;
}

/// An answer of a kernel that has not this counter (or has it switched off).
inline Message without_counter(const Message& answer, std::string_view name) {
  return with_entries(answer, [&](host::Bytes entry) {
    return entry_name(entry) == name ? Message() : Message(entry.begin(), entry.end());
  });
}

/// The answer with another value of one counter.
inline Message with_value(const Message& answer, std::string_view name, std::uint64_t value) {
  return with_entries(answer, [&](host::Bytes entry) {
    Message changed(entry.begin(), entry.end());
    if (entry_name(entry) != name) return changed;
    host::for_each_attr(changed, [&](const host::Attr& attr) {
      if (attr.type != RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE) return;
      std::memcpy(&changed[static_cast<std::size_t>(attr.data.data() - changed.data())], &value,
                  sizeof value);
    });
    return changed;
  });
}

/// The answer with another name of one counter.
inline Message with_name(const Message& answer, std::string_view name, const std::string& other) {
  return with_entries(answer, [&](host::Bytes entry) {
    Message changed;
    host::for_each_attr(entry, [&](const host::Attr& attr) {
      const bool renamed = attr.type == RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME && attr.text() == name;
      append_attr(changed, attr.type,
                  renamed ? std::as_bytes(std::span(other.c_str(), other.size() + 1)) : attr.data);
    });
    return changed;
  });
}

}  // namespace rdma_exporter::test
