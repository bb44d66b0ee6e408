// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/resource/dump_guard.h"
#include "collectors/resource/resource_table.h"
#include "core/result.h"
#include "host/netlink/netlink.h"

namespace rdma_exporter::collectors {

/// The result of all dumps of a table so far. Its rows are those of the last complete one.
struct TableReport {
  std::string_view table = {};  ///< "qp", "mr", ...; "qp_statistic", "odp_statistic"
  std::vector<ResourceRow> rows = {};
  std::optional<DumpGuard::Clock::time_point> finished =
      {};                                     ///< end of the last complete dump; nullopt: none yet
  std::chrono::duration<double> duration{0};  ///< of the last dump, complete or not
  std::string_view truncated = {};            ///< limit that ended or forbade the last dump; empty: none
  std::map<std::string_view, std::uint64_t> errors = {};  ///< by reason

  std::string labels = {};            ///< `table`, rendered when the report is served
  std::string truncated_labels = {};  ///< and `reason`

  /// A limit that was known in advance excludes the table: its last result is no longer served.
  void forbid(std::string_view limit);
  /// Stores a complete result.
  void finish(std::vector<ResourceRow> result);
};

/// Limits on the cost of the dumps of one pass.
struct DumpLimits {
  std::size_t max_entries = 0;
  DumpGuard::Clock::time_point deadline;
};

/// Handles one message: reports each object's id to the guard, and adds up those that are new.
using OnDumpMessage = std::function<core::Result<void>(host::Bytes message, DumpGuard& guard)>;

/// Performs one dump and records the outcome in `report`. True if it was complete.
bool dump_table(host::Netlink& netlink, std::uint16_t command, host::Bytes request, const DumpLimits& limits,
                TableReport& report, const OnDumpMessage& on_message);

}  // namespace rdma_exporter::collectors
