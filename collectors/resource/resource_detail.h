// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/collector.h"
#include "collectors/counters/object_statistics.h"
#include "collectors/resource/resource_settings.h"
#include "collectors/resource/resource_table.h"
#include "collectors/resource/table_dump.h"
#include "host/host.h"
#include "host/netlink/nldev_resource.h"

namespace rdma_exporter::collectors {

/// Number of objects by type, as the summary has it: types that the kernel does not name are not there.
using ResourceCounts = std::map<std::string, std::uint64_t, std::less<>>;

/// What the job serves of a device between two passes. Immutable.
struct DetailReport {
  std::vector<TableReport> tables;
  std::vector<ResourceRow> owners;
};

/// Dumps the tables of one device, pass after pass, and remembers what a failed dump must not take away. One
/// thread at a time. A pass takes at most settings.timeout and what one message takes inside the kernel.
class ResourceDetail {
 public:
  /// `context` outlives it; netlink knows `device`.
  ResourceDetail(const Context& context, const host::Device& device);

  /// One pass. `counts` tells which tables there are; what is empty is not asked for, what is too long
  /// neither.
  std::shared_ptr<const DetailReport> pass(const ResourceCounts& counts);

 private:
  using Table = host::nldev::ResourceTable;

  struct TableState {
    TableReport report;
    OwnerShares owners;
    bool present = false;  ///< the kernel has such a table
  };

  void pass_table(Table table, const ResourceCounts& counts, const DumpLimits& limits);
  void dump(Table table, TableState& state, const DumpLimits& limits);
  std::string_view forbidden(Table table, std::uint64_t objects) const;
  const OwnerShares* shares(Table table) const;
  std::shared_ptr<const DetailReport> report() const;

  host::Host& host_;
  const ResourceSettings settings_;
  const std::vector<std::byte> request_;
  std::unique_ptr<host::Netlink> netlink_;
  std::array<TableState, host::nldev::kResourceTables> tables_;
  QpStatistics qp_statistics_;
  OdpStatistics odp_statistics_;
  bool on_demand_ = false;  ///< there are memory regions with on-demand paging
};

}  // namespace rdma_exporter::collectors
