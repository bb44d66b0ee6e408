// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/collector.h"
#include "collectors/resource/object_statistics.h"
#include "collectors/resource/resource_table.h"
#include "collectors/resource/table_dump.h"
#include "collectors/settings.h"
#include "host/host.h"
#include "host/netlink/nldev/resource.h"
#include "task/background_value.h"

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

/// Runs the passes of one device in the background, one at a time. Shared by the job and the pass in
/// progress, which may be stuck in the kernel after the job is gone. Thread-safe.
class ResourcePasses : public std::enable_shared_from_this<ResourcePasses> {
 public:
  using Clock = DumpGuard::Clock;

  /// `context` must outlive it and have a background; `device` must have a netlink index.
  ResourcePasses(const Context& context, const host::Device& device);

  /// Whether start_if_due() has anything to do at `now`.
  bool wants(Clock::time_point now) const { return report_.wants(now); }
  /// Starts a pass if one is due at `now` and none is in progress.
  void start_if_due(ResourceCounts counts, Clock::time_point now);
  /// The result of the last pass that has ended; nullptr before that.
  std::shared_ptr<const DetailReport> latest() const { return report_.latest().value; }
  /// Waits for the first pass, at most for the given time.
  void wait_for_first(std::chrono::milliseconds at_most);

 private:
  ResourceDetail detail_;  ///< used only by the pass in progress
  task::BackgroundValue<DetailReport> report_;
};

}  // namespace rdma_exporter::collectors
