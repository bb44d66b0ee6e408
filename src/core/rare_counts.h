// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace rdma_exporter::core {

/// Counts by reason, such as errors. A large host has a thousand jobs and nearly all of them have none, so it
/// allocates nothing before the first one. Reasons are static text. Not thread-safe.
class RareCounts {
 public:
  using Count = std::pair<std::string_view, std::uint64_t>;
  using List = std::span<const Count>;

  /// Appends a count, also of a reason that is in the list already.
  void append(std::string_view reason, std::uint64_t count) { list().emplace_back(reason, count); }
  /// Adds each count to that of the same reason.
  void merge(List counts) {
    for (const auto& [reason, count] : counts) {
      const auto same = [why = reason](const Count& known) { return known.first == why; };
      const auto known = std::find_if(list().begin(), list().end(), same);
      if (known == list().end()) {
        append(reason, count);
      } else {
        known->second += count;
      }
    }
  }
  void clear() {
    if (list_) list_->clear();
  }

  /// In the order in which they came.
  List all() const { return list_ ? List(*list_) : List(); }

 private:
  std::vector<Count>& list() {
    if (!list_) list_ = std::make_unique<std::vector<Count>>();
    return *list_;
  }

  std::unique_ptr<std::vector<Count>> list_;
};

}  // namespace rdma_exporter::core
