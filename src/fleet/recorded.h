// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fleet/promql.h"
#include "fleet/table.h"

// Recording rules that evaluate the queries of the analysis ahead of it, so that a server with many hosts
// answers within seconds. Each rule `fleet:TABLE` has the label `query`, a checksum of its expression: what
// another version, selector or unit label wrote is ignored.
namespace rdma_exporter::fleet {

/// A rule file for Prometheus with a rule for each query. A rule without a result records one series with the
/// value 0 and no label but `query`, so that nothing recorded means that the rule did not run.
std::string to_rules(const Plan& queries);

/// Which of the queries the server records.
class Recorded {
 public:
  /// Asks for what is recorded; for the constructor.
  static Query question();

  Recorded() = default;  ///< nothing
  /// Of `queries`, those in the answer to question().
  Recorded(const Plan& queries, const std::vector<Row>& found);

  bool any() const { return !series_.empty(); }
  /// The plan with one recorded series in place of all queries for its table.
  Plan use(const Plan& plan) const;
  /// Removes the rows of rules without a result.
  void clean(Tables& tables, const Plan& plan) const;

 private:
  std::map<std::string, std::string, std::less<>> series_;  // by table
};

}  // namespace rdma_exporter::fleet
