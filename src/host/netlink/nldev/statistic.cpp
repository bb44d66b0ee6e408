// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/netlink/nldev/statistic.h"

#include "host/netlink/nldev/nldev.h"
#include "host/netlink/nldev/wire.h"

namespace rdma_exporter::host::nldev {
namespace {

core::Result<void> read_values(Bytes entry, std::vector<NamedValue>& values) {
  return parse_counters(
      entry, [&](std::string_view name, std::uint64_t value) { values.emplace_back(name, value); });
}

void take_qps(Bytes table, QpStatistic& statistic) {
  for_each_attr(table, [&](const Attr& entry) {
    if (entry.type != RDMA_NLDEV_ATTR_RES_QP_ENTRY) return;
    ++statistic.qps;
    for_each_attr(entry.data, [&](const Attr& attr) {
      if (attr.type == RDMA_NLDEV_ATTR_RES_LQPN && !statistic.first_qp)
        statistic.first_qp = attr.number<std::uint32_t>();
    });
  });
}

core::Result<QpStatistic> parse_qp_statistic(Bytes entry) {
  QpStatistic statistic;
  std::optional<std::uint32_t> id;
  std::optional<std::uint32_t> port;
  const bool whole = for_each_attr(entry, [&](const Attr& attr) {
    if (attr.type == RDMA_NLDEV_ATTR_STAT_COUNTER_ID) id = attr.number<std::uint32_t>();
    if (attr.type == RDMA_NLDEV_ATTR_PORT_INDEX) port = attr.number<std::uint32_t>();
    if (attr.type == RDMA_NLDEV_ATTR_RES_TYPE) statistic.qp_type = attr.number<std::uint8_t>();
    if (attr.type == RDMA_NLDEV_ATTR_RES_QP) take_qps(attr.data, statistic);
  });
  if (!whole || !id || !port) return core::parse_error();
  statistic.id = *id;
  statistic.port = *port;
  if (const auto read = read_values(entry, statistic.values); !read) return tl::unexpected(read.error());
  return statistic;
}

}  // namespace

const std::uint16_t kStatGetStatus = type_of(RDMA_NLDEV_CMD_STAT_GET_STATUS);

core::Result<void> parse_counter_status(Bytes payload, const OnCounterStatus& on_status) {
  const auto on_entry = [&](Bytes entry) -> core::Result<void> {
    CounterStatus status;
    std::optional<std::uint8_t> dynamic;
    const bool whole = for_each_attr(entry, [&](const Attr& attr) {
      if (attr.type == RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME) status.name = attr.text();
      if (attr.type == RDMA_NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC) dynamic = attr.number<std::uint8_t>();
    });
    if (!whole || status.name.empty()) return core::parse_error();
    if (dynamic) status.enabled = *dynamic != 0;
    on_status(status);
    return {};
  };
  return for_each_entry(payload, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY,
                        on_entry);
}

std::vector<std::byte> statistic_request(std::uint32_t device_index, StatisticOf of) {
  std::vector<std::byte> payload = device_request(device_index);
  append_u32(payload, RDMA_NLDEV_ATTR_STAT_RES,
             of == StatisticOf::qp ? RDMA_NLDEV_ATTR_RES_QP : RDMA_NLDEV_ATTR_RES_MR);
  return payload;
}

core::Result<void> parse_qp_statistics(Bytes payload, const OnQpStatistic& on_statistic) {
  const auto on_entry = [&](Bytes entry) -> core::Result<void> {
    const auto statistic = parse_qp_statistic(entry);
    if (!statistic) return tl::unexpected(statistic.error());
    on_statistic(*statistic);
    return {};
  };
  return for_each_entry(payload, RDMA_NLDEV_ATTR_STAT_COUNTER, RDMA_NLDEV_ATTR_STAT_COUNTER_ENTRY, on_entry);
}

core::Result<void> parse_mr_statistics(Bytes payload, const OnMrStatistic& on_statistic) {
  const auto on_entry = [&](Bytes entry) -> core::Result<void> {
    MrStatistic statistic;
    std::optional<std::uint32_t> id;
    for_each_attr(entry, [&](const Attr& attr) {
      if (attr.type == RDMA_NLDEV_ATTR_RES_MRN) id = attr.number<std::uint32_t>();
    });
    if (!id) return core::parse_error();
    statistic.id = *id;
    if (auto read = read_values(entry, statistic.values); !read) return read;
    on_statistic(statistic);
    return {};
  };
  return for_each_entry(payload, RDMA_NLDEV_ATTR_RES_MR, RDMA_NLDEV_ATTR_RES_MR_ENTRY, on_entry);
}

}  // namespace rdma_exporter::host::nldev
