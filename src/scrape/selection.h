// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rdma_exporter::scrape {

/// The collectors that a scrape wants: all, or a list of names.
class Selection {
 public:
  Selection() = default;
  explicit Selection(const std::set<std::string, std::less<>>& names)
      : all_(false), names_(names.begin(), names.end()) {}

  bool has(std::string_view collector) const {
    return all_ || std::find(names_.begin(), names_.end(), collector) != names_.end();
  }
  bool has_all() const { return all_; }
  /// Whether this selection contains everything in `other`.
  bool covers(const Selection& other) const {
    if (all_ || other.all_) return all_;
    return std::includes(names_.begin(), names_.end(), other.names_.begin(), other.names_.end());
  }
  void add(const Selection& other) {
    all_ = all_ || other.all_;
    if (all_) return names_.clear();
    std::vector<std::string> both;
    std::set_union(names_.begin(), names_.end(), other.names_.begin(), other.names_.end(),
                   std::back_inserter(both));
    names_ = std::move(both);
  }
  bool operator==(const Selection&) const = default;

 private:
  bool all_ = true;
  std::vector<std::string> names_;  ///< sorted; few, and looked for once per job
};

}  // namespace rdma_exporter::scrape
