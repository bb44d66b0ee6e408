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

#include "collectors/resource/resource_table.h"
#include "core/result.h"
#include "host/netlink/netlink.h"

namespace rdma_exporter::collectors {

/// Limits one dump of a resource table and remembers which objects it has seen. The kernel's dump has a
/// position but no sequence number: while objects come and go it repeats some and skips others, and an object
/// that does not fit into a message makes it continue forever (core/nldev.c res_get_common_dumpit). For one
/// thread and one dump.
class DumpGuard {
 public:
  using Clock = std::chrono::steady_clock;

  DumpGuard(std::size_t max_entries, Clock::time_point deadline)
      : max_entries_(max_entries), deadline_(deadline) {}

  /// True the first time that `id` is passed. Cheap while ids ascend, as almost all of them do.
  bool fresh(std::uint64_t id);

  /// Call this after each message. False if the dump has to end; stopped() then returns the reason.
  bool more(Clock::time_point now = Clock::now());

  /// The limit that ended the dump; empty if none did.
  std::string_view stopped() const { return stopped_; }
  static constexpr std::string_view kMaxEntries = "max_entries";
  static constexpr std::string_view kTimeout = "timeout";
  static constexpr std::string_view kStalled = "stalled";

  /// Consecutive messages without a new object. One is normal: the first message is small, and its only
  /// object may not have fitted.
  static constexpr unsigned kIdleMessages = 8;

 private:
  const std::size_t max_entries_;
  const Clock::time_point deadline_;
  std::vector<std::uint64_t> seen_;  ///< ascending
  std::size_t seen_before_ = 0;      ///< as of the last message
  unsigned idle_messages_ = 0;
  std::string_view stopped_;
};

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
