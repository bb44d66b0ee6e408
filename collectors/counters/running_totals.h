// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace rdma_exporter::collectors {

/// Adds up counters of objects that come and go so that the sums never fall: what an object has counted stays
/// when it is gone. What it counts between the last dump and its end is lost. One thread.
class RunningTotals {
 public:
  /// A value of counter `name` of object `id` in the dump going on; its growth goes to the sum of `series`.
  /// An id that is used again starts anew.
  void put(std::uint32_t id, std::string_view name, std::uint64_t value, const std::string& series);
  /// The dump was complete: objects it did not have are gone.
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
