// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"
#include "host/netlink/netlink.h"

// Statistics over RDMA netlink beyond the counters of a port (drivers/infiniband/core/nldev.c, counters.c):
// which optional counters exist, the counters of queue pair sets made with `rdma statistic qp`, and on-demand
// paging of memory regions. Pure functions from bytes.
namespace rdma_exporter::host::nldev {

extern const std::uint16_t kStatGetStatus;  ///< for a port; since Linux 5.16

/// A counter of a port as STAT_GET_STATUS tells of it.
struct CounterStatus {
  std::string_view name;        ///< in the payload
  std::optional<bool> enabled;  ///< optional counters only; nullopt: a default one, which always counts
};
using OnCounterStatus = std::function<void(const CounterStatus&)>;
core::Result<void> parse_counter_status(Bytes payload, const OnCounterStatus& on_status);

/// Request for the dump STAT_GET of a device's counters of sets of queue pairs, or of memory regions.
enum class StatisticOf : std::uint8_t { qp, mr };
std::vector<std::byte> statistic_request(std::uint32_t device_index, StatisticOf of);

using NamedValue = std::pair<std::string_view, std::uint64_t>;

/// A set of queue pairs of one port that are counted together.
struct QpStatistic {
  std::uint32_t id = 0;  ///< of the set, within the device
  std::uint32_t port = 0;
  std::optional<std::uint8_t> qp_type;  ///< where the set was made automatically, by type
  std::optional<std::uint32_t> first_qp;
  std::size_t qps = 0;
  std::vector<NamedValue> values;  ///< names in the payload
};
using OnQpStatistic = std::function<void(const QpStatistic&)>;
core::Result<void> parse_qp_statistics(Bytes payload, const OnQpStatistic& on_statistic);

/// What the driver counts of one memory region: with mlx5 page_faults, page_invalidations, page_prefetch of
/// regions with on-demand paging, nothing of others.
struct MrStatistic {
  std::uint32_t id = 0;            ///< MRN
  std::vector<NamedValue> values;  ///< names in the payload
};
using OnMrStatistic = std::function<void(const MrStatistic&)>;
core::Result<void> parse_mr_statistics(Bytes payload, const OnMrStatistic& on_statistic);

}  // namespace rdma_exporter::host::nldev
