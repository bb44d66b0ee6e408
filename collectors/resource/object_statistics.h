// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collectors/counters/carry_over.h"
#include "collectors/resource/table_dump.h"
#include "host/netlink/nldev/resource.h"
#include "host/netlink/nldev/statistic.h"

namespace rdma_exporter::collectors {

/// Adds up counters of objects that come and go, so that the sums never fall: what a destroyed object counted
/// remains. What an object counts between the last dump and its destruction is lost. One thread.
class RunningTotals {
 public:
  /// The value of counter `name` of object `id` in the current dump; its increase is added to the sum of
  /// `series`. An id that is reused starts from 0.
  void put(std::uint32_t id, std::string_view name, std::uint64_t value, const std::string& series);
  /// The dump was complete: objects that it did not contain no longer exist.
  void end_dump();

  const std::map<std::string, std::uint64_t>& totals() const { return totals_; }

 private:
  struct Last {
    std::uint64_t value = 0;
    std::uint64_t dump = 0;
  };
  std::map<std::pair<std::uint32_t, std::string>, Last> last_;
  std::map<std::string, std::uint64_t> totals_;  ///< by series
  std::uint64_t dump_ = 1;
};

// Counters that the kernel keeps for single objects, added up over a device. Nothing here enables any.

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
