// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "probe/session/observer.h"

// The results of the command probe, and their output as text and JSON. Pure.
namespace rdma_exporter::commands {

/// Round trips of one operation to one target, with exact percentiles of the last kKept. They restart when
/// the clock changes, because times of two clocks cannot be compared.
class Tally {
 public:
  static constexpr std::size_t kKept = 100'000;

  void success(std::chrono::nanoseconds rtt, probe::RttClock clock = probe::RttClock::host);
  void failure(const probe::Failure& failure);

  std::uint64_t successes() const { return successes_; }
  std::uint64_t failures() const { return failures_; }
  /// Number of failures by "STAGE REASON".
  const std::map<std::string, std::uint64_t>& reasons() const { return reasons_; }
  std::chrono::nanoseconds least() const { return least_; }
  std::chrono::nanoseconds most() const { return most_; }
  probe::RttClock clock() const { return clock_; }
  /// The kept round trips, sorted.
  std::vector<std::chrono::nanoseconds> sorted() const;

 private:
  std::uint64_t successes_ = 0;
  std::uint64_t failures_ = 0;
  std::map<std::string, std::uint64_t> reasons_;
  std::vector<std::chrono::nanoseconds> rtts_;  // a ring
  std::chrono::nanoseconds least_ = std::chrono::nanoseconds::max();
  std::chrono::nanoseconds most_{};
  probe::RttClock clock_ = probe::RttClock::host;
};

/// The smallest value of `sorted` that at least a share of `quantile` in (0, 1] does not exceed; 0 if there
/// is none.
std::chrono::nanoseconds quantile_of(const std::vector<std::chrono::nanoseconds>& sorted, double quantile);

/// All operations of each path, in the order of their enumeration.
using Tallies = std::map<probe::Path, std::map<probe::Op, Tally>>;

/// "12.3 us", "1.234 ms".
std::string duration_text(std::chrono::nanoseconds time);
/// One line about a result, with its newline.
std::string success_line(const probe::Path& path, probe::Op op, const probe::Completion& completion);
std::string failure_line(const probe::Path& path, probe::Op op, const probe::Failure& failure);
/// One table per path.
std::string tallies_text(const Tallies& tallies);
/// A JSON document; times are in seconds.
std::string tallies_json(const Tallies& tallies);

/// The header and lines of --raw: fields separated by tabs; `time` is in seconds since 1970.
std::string raw_header();
std::string raw_line(double time, const probe::Path& path, probe::Op op, const probe::Completion& completion);
std::string raw_line(double time, const probe::Path& path, probe::Op op, const probe::Failure& failure);

}  // namespace rdma_exporter::commands
