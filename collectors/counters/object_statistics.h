// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collectors/counters/carry_over.h"
#include "collectors/counters/running_totals.h"
#include "collectors/resource/table_dump.h"
#include "host/netlink/nldev/resource.h"
#include "host/netlink/nldev/statistic.h"

// Counters that the kernel keeps for single objects, added up over a device. Nothing here enables any.
namespace rdma_exporter::collectors {

/// Counters of sets of queue pairs. A set created by hand does not say which type its queue pairs have.
/// Therefore call dump() before the table of queue pairs is read, see() for each of them, then finish() to
/// build the rows. One thread.
class QpStatistics {
 public:
  /// `carried`: where its sums are loaded from and stored.
  QpStatistics(std::uint32_t device_index, CarryOver::Slot carried);

  void dump(host::Netlink& netlink, const DumpLimits& limits);
  void see(const host::nldev::Resource& qp);
  void finish();

  const TableReport& report() const { return report_; }

 private:
  struct Set {
    std::uint32_t id;
    std::uint32_t port;
    std::optional<std::uint32_t> type;
    std::optional<std::uint32_t> first_qp;
    std::size_t qps;
    std::vector<std::pair<std::string, std::uint64_t>> values;
  };

  const std::vector<std::byte> request_;
  TableReport report_{.table = "qp_statistic"};
  std::vector<Set> sets_;
  bool complete_ = false;
  CarryOver::Slot carried_;
  RunningTotals totals_;
};

/// Counters of memory regions with on-demand paging. One thread.
class OdpStatistics {
 public:
  /// `carried`: where its sums are loaded from and stored.
  OdpStatistics(std::uint32_t device_index, CarryOver::Slot carried);

  void dump(host::Netlink& netlink, const DumpLimits& limits);

  const TableReport& report() const { return report_; }

 private:
  const std::vector<std::byte> request_;
  TableReport report_{.table = "odp_statistic"};
  CarryOver::Slot carried_;
  RunningTotals totals_;
};

}  // namespace rdma_exporter::collectors
