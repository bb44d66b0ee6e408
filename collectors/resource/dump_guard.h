// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace rdma_exporter::collectors {

/// Bounds one dump of a resource table, and tells what was seen already. The kernel's dump has a position and
/// no sequence number: while objects come and go it repeats and skips some, and an object that does not fit a
/// message makes it go on for ever without one (core/nldev.c res_get_common_dumpit). One thread, one dump.
class DumpGuard {
 public:
  using Clock = std::chrono::steady_clock;

  DumpGuard(std::size_t max_entries, Clock::time_point deadline)
      : max_entries_(max_entries), deadline_(deadline) {}

  /// True the first time that `id` is given. Cheap while ids ascend, as they do but for a few.
  bool fresh(std::uint64_t id);

  /// To be asked after each message: false when the dump has to end. Then stopped() says why.
  bool more(Clock::time_point now = Clock::now());

  /// One of these; empty while nothing has ended the dump.
  std::string_view stopped() const { return stopped_; }
  static constexpr std::string_view kMaxEntries = "max_entries";
  static constexpr std::string_view kTimeout = "timeout";
  static constexpr std::string_view kStalled = "stalled";

  /// Messages in a row without a new object. One is normal: the first message is small, so its only object
  /// may not have fitted.
  static constexpr unsigned kIdleMessages = 8;

 private:
  const std::size_t max_entries_;
  const Clock::time_point deadline_;
  std::vector<std::uint64_t> seen_;  ///< ascending
  std::size_t seen_before_ = 0;      ///< as of the last message
  unsigned idle_messages_ = 0;
  std::string_view stopped_;
};

}  // namespace rdma_exporter::collectors
