// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

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

}  // namespace rdma_exporter::collectors
