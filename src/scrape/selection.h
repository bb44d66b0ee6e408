// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace rdma_exporter::scrape {

/// The collectors that a scrape wants: all, or a list of names.
class Selection {
 public:
  Selection() = default;
  explicit Selection(std::set<std::string, std::less<>> names) : all_(false), names_(std::move(names)) {}

  bool has(std::string_view collector) const { return all_ || names_.contains(collector); }
  bool has_all() const { return all_; }
  /// Whether this selection contains everything in `other`.
  bool covers(const Selection& other) const;
  void add(const Selection& other);
  bool operator==(const Selection&) const = default;

 private:
  bool all_ = true;
  std::set<std::string, std::less<>> names_;
};

}  // namespace rdma_exporter::scrape
