// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Messages of statistics that Soft-RoCE lacks: the counters of a recorded STAT_GET in the nests of
// core/nldev.c.
#pragma once

#include <rdma/rdma_netlink.h>

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/netlink/netlink_attr.h"
#include "tests/unit/support/netlink_mutation.h"
#include "tests/unit/support/recorded_netlink.h"

namespace rdma_exporter::test {

template <typename T>
void append_number(Message& out, std::uint16_t type, T value) {
  append_attr(out, type, std::as_bytes(std::span(&value, 1)));
}

inline Message recorded_counters() {
  Message counters;
  const Message answer = recorded_message("stat_get_0.bin");
  host::for_each_attr(answer, [&](const host::Attr& attr) {
    if (attr.type == RDMA_NLDEV_ATTR_STAT_HWCOUNTERS) counters.assign(attr.data.begin(), attr.data.end());
  });
  return counters;
}

/// The recorded STAT_GET_STATUS with some counters marked as optional ones, enabled or not.
inline Message with_optional_counters(const std::map<std::string, bool, std::less<>>& optional) {
  return with_entries(recorded_message("stat_get_status_0.bin"), [&](host::Bytes entry) {
    Message changed(entry.begin(), entry.end());
    if (const auto it = optional.find(entry_name(entry)); it != optional.end())
      append_number<std::uint8_t>(changed, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC, it->second ? 1 : 0);
    return changed;
  });
}

/// A table of resources with another number in each entry that has it.
template <typename T>
Message with_number(const Message& message, std::uint16_t table, std::uint16_t number, T value) {
  Message out;
  host::for_each_attr(message, [&](const host::Attr& attr) {
    if (attr.type != table) return append_attr(out, attr.type, attr.data);
    Message entries;
    host::for_each_attr(attr.data, [&](const host::Attr& entry) {
      Message changed;
      host::for_each_attr(entry.data, [&](const host::Attr& field) {
        append_attr(changed, field.type,
                    field.type == number ? std::as_bytes(std::span(&value, 1)) : field.data);
      });
      append_attr(entries, entry.type | NLA_F_NESTED, changed);
    });
    append_attr(out, table | NLA_F_NESTED, entries);
  });
  return out;
}

/// A table of memory regions with what mlx5 adds to those with on-demand paging (hw/mlx5/restrack.c).
inline Message with_on_demand_paging(const Message& regions) {
  Message driver_entry;
  append_attr(driver_entry, RDMA_NLDEV_ATTR_DRIVER_STRING, std::as_bytes(std::span("odp", 4)));
  append_attr(driver_entry, RDMA_NLDEV_ATTR_DRIVER_STRING, std::as_bytes(std::span("explicit", 9)));
  Message driver;
  append_attr(driver, RDMA_NLDEV_ATTR_DRIVER_ENTRY | NLA_F_NESTED, driver_entry);
  Message message;
  host::for_each_attr(regions, [&](const host::Attr& attr) {
    if (attr.type != RDMA_NLDEV_ATTR_RES_MR) return append_attr(message, attr.type, attr.data);
    Message table;
    host::for_each_attr(attr.data, [&](const host::Attr& entry) {
      Message changed(entry.data.begin(), entry.data.end());
      append_attr(changed, RDMA_NLDEV_ATTR_DRIVER | NLA_F_NESTED, driver);
      append_attr(table, entry.type, changed);
    });
    append_attr(message, attr.type, table);
  });
  return message;
}

struct SetOfQps {
  std::uint32_t id;
  std::optional<std::uint8_t> type;  ///< of a set made automatically
  std::vector<std::uint32_t> qps;
};

inline Message qp_statistics_message(const std::vector<SetOfQps>& sets) {
  Message table;
  for (const SetOfQps& set : sets) {
    Message entry;
    append_number<std::uint32_t>(entry, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
    append_number<std::uint32_t>(entry, RDMA_NLDEV_ATTR_STAT_COUNTER_ID, set.id);
    append_number<std::uint32_t>(entry, RDMA_NLDEV_ATTR_STAT_MODE, set.type ? 1 : 2);
    if (set.type) append_number<std::uint8_t>(entry, RDMA_NLDEV_ATTR_RES_TYPE, *set.type);
    Message qps;
    for (const std::uint32_t qp : set.qps) {
      Message qp_entry;
      append_number<std::uint32_t>(qp_entry, RDMA_NLDEV_ATTR_RES_LQPN, qp);
      append_attr(qps, RDMA_NLDEV_ATTR_RES_QP_ENTRY | NLA_F_NESTED, qp_entry);
    }
    append_attr(entry, RDMA_NLDEV_ATTR_RES_QP | NLA_F_NESTED, qps);
    append_attr(entry, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS | NLA_F_NESTED, recorded_counters());
    append_attr(table, RDMA_NLDEV_ATTR_STAT_COUNTER_ENTRY, entry);
  }
  Message message;
  append_attr(message, RDMA_NLDEV_ATTR_STAT_COUNTER, table);
  return message;
}

/// `regions`: id, and whether the driver counts something of it.
inline Message mr_statistics_message(const std::vector<std::pair<std::uint32_t, bool>>& regions) {
  Message table;
  for (const auto& [id, counted] : regions) {
    Message entry;
    append_number<std::uint32_t>(entry, RDMA_NLDEV_ATTR_RES_MRN, id);
    if (counted) append_attr(entry, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS | NLA_F_NESTED, recorded_counters());
    append_attr(table, RDMA_NLDEV_ATTR_RES_MR_ENTRY, entry);
  }
  Message message;
  append_attr(message, RDMA_NLDEV_ATTR_RES_MR, table);
  return message;
}

}  // namespace rdma_exporter::test
