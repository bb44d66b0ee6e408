// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace rdma_exporter::scrape {

/// The collectors that a scrape wants: all, or a list of names.
class Selection {
 public:
  Selection() = default;
  explicit Selection(std::set<std::string, std::less<>> names) : all_(false), names_(std::move(names)) {}

  bool has(std::string_view collector) const { return all_ || names_.contains(collector); }
  bool has_all() const { return all_; }
  /// Whether this selection contains everything in `other`.
  bool covers(const Selection& other) const {
    if (all_ || other.all_) return all_;
    return std::includes(names_.begin(), names_.end(), other.names_.begin(), other.names_.end());
  }
  void add(const Selection& other) {
    all_ = all_ || other.all_;
    if (all_) return names_.clear();
    names_.insert(other.names_.begin(), other.names_.end());
  }
  bool operator==(const Selection&) const = default;

 private:
  bool all_ = true;
  std::set<std::string, std::less<>> names_;
};

}  // namespace rdma_exporter::scrape
