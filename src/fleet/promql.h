// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fleet/hosts.h"
#include "fleet/table.h"

namespace rdma_exporter::fleet {

/// Queries that are sent together.
using Plan = std::vector<Query>;

/// Writes expressions according to the options.
class PromQl {
 public:
  explicit PromQl(const Options& options) : options_(options) {}

  /// metric{matchers,selector}
  std::string series(std::string_view metric, std::string_view matchers = {}) const;
  /// Rate per second over the window.
  std::string rate(std::string_view metric, std::string_view matchers = {}) const;
  std::string increase(std::string_view metric, std::string_view matchers = {}) const;

  /// The label that says which hosts share their leaves.
  const std::string& unit() const { return options_.unit_label; }
  long window() const;

  /// Large fleets are asked rail by rail.
  void shard_by(const Hosts& hosts);
  /// Adds the query that `expression` returns for a matcher, once per shard.
  void add_sharded(Plan& plan, const std::string& table, const std::vector<std::string>& columns,
                   const std::function<std::string(const std::string&)>& expression) const;

 private:
  std::string range(std::string_view function, std::string_view metric, std::string_view matchers) const;

  const Options& options_;
  std::vector<std::string> shards_{""};
};

/// `text` in double quotes, as a label value in PromQL.
std::string in_quotes(std::string_view text);

/// a|b|c as a regular expression; the names contain no special characters. "" if there are none.
std::string any_of(const std::vector<std::string>& names);

/// A matcher of those values of a label; of all that are not empty where naming them would take too long.
std::string one_of(std::string_view label, const std::set<std::string>& values);

}  // namespace rdma_exporter::fleet
