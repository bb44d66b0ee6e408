// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

// Queries of the analysis to a Prometheus-compatible API, and their answers.
namespace rdma_exporter::fleet {

/// An instant query. The labels in `columns` are kept for each series of the answer, in that order.
struct Query {
  std::string table;  ///< which table it fills; several queries may fill one
  std::string expression;
  std::vector<std::string> columns;
};

struct Row {
  std::vector<std::string> cells;  ///< one for each column; empty: the series has no such label
  double value = 0;
};

/// The answer to a query.
struct Answer {
  std::vector<Row> rows;
  std::string error;                  ///< empty: it was answered
  std::vector<std::string> warnings;  ///< the server says that something is missing
  double seconds = 0;                 ///< how long it took
  std::size_t bytes = 0;
};

/// Returns the answers to queries, in order. Blocks.
using Ask = std::function<std::vector<Answer>(const std::vector<Query>&)>;

/// Statistics of a query for the people who run the server.
struct QueryReport {
  std::string table;
  std::string expression;
  double seconds = 0;
  std::size_t series = 0;
  std::size_t bytes = 0;
  std::string error;
};

/// The answers so far, by table.
class Tables {
 public:
  void add(const Query& query, Answer answer);

  /// Removes the rows of a table for which `wanted` is false.
  void keep(std::string_view table, const std::function<bool(const Row&)>& wanted);

  /// Rows of a table; none if it was not queried or is empty.
  const std::vector<Row>& rows(std::string_view table) const;
  /// Whether it was queried and no part of it failed.
  bool answered(std::string_view table) const;
  /// Why a part of a table is missing; empty if nothing is.
  std::string problem(std::string_view table) const;

  const std::vector<QueryReport>& reports() const { return reports_; }
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  struct Table {
    std::vector<Row> rows;
    std::string problem;
  };
  std::map<std::string, Table, std::less<>> tables_;
  std::vector<QueryReport> reports_;
  std::vector<std::string> warnings_;
};

}  // namespace rdma_exporter::fleet
