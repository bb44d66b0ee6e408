// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/result.h"
#include "host/netlink/netlink_attr.h"

// What the files nldev*.cpp share.
namespace rdma_exporter::host::nldev {

/// nlmsg_type of a command of the device client (include/uapi/rdma/rdma_netlink.h RDMA_NL_GET_TYPE).
constexpr std::uint16_t type_of(unsigned command) {
  return static_cast<std::uint16_t>(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command));
}

inline void append_u32(std::vector<std::byte>& out, std::uint16_t type, std::uint32_t value) {
  const nlattr header{sizeof(nlattr) + sizeof value, type};
  const std::size_t at = out.size();
  out.resize(at + sizeof header + sizeof value);
  std::memcpy(&out[at], &header, sizeof header);
  std::memcpy(&out[at + sizeof header], &value, sizeof value);
}

/// Calls `on_entry(Bytes) -> Result<void>` for each attribute `entry` in each nest `table`, until it returns
/// an error.
template <typename OnEntry>
core::Result<void> for_each_entry(Bytes payload, std::uint16_t table, std::uint16_t entry,
                                  OnEntry&& on_entry) {
  core::Result<void> result;
  const bool whole = for_each_attr(payload, [&](const Attr& outer) {
    if (outer.type != table || !result) return;
    const bool table_whole = for_each_attr(outer.data, [&](const Attr& inner) {
      if (inner.type == entry && result) result = on_entry(inner.data);
    });
    if (!table_whole && result) result = core::parse_error();
  });
  if (!whole && result) result = core::parse_error();
  return result;
}

}  // namespace rdma_exporter::host::nldev
