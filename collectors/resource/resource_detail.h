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
#include "host/netlink/nldev/resource.h"

namespace rdma_exporter::collectors {

/// Number of objects by type, from the summary; types that the kernel does not report are missing.
using ResourceCounts = std::map<std::string, std::uint64_t, std::less<>>;

/// What the job serves for a device between two passes. Immutable.
struct DetailReport {
  std::vector<TableReport> tables;
  std::vector<ResourceRow> owners;
};

/// Dumps the tables of one device, in one pass after another, and keeps the results that a failed dump must
/// not discard. One thread at a time. A pass takes at most settings.timeout plus the time of one message in
/// the kernel.
class ResourceDetail {
 public:
  /// `context` must outlive it; `device` must have a netlink index.
  ResourceDetail(const Context& context, const host::Device& device);

  /// One pass. `counts` says which tables exist; empty ones and those that are too long are skipped.
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
