// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "fleet/table.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace rdma_exporter::fleet {

void Tables::add(const Query& query, Answer answer) {
  reports_.push_back(
      {query.table, query.expression, answer.seconds, answer.rows.size(), answer.bytes, answer.error});
  for (std::string& warning : answer.warnings)
    if (std::find(warnings_.begin(), warnings_.end(), warning) == warnings_.end())
      warnings_.push_back(std::move(warning));
  Table& table = tables_[query.table];
  if (!answer.error.empty()) table.problem = std::move(answer.error);
  std::move(answer.rows.begin(), answer.rows.end(), std::back_inserter(table.rows));
}

void Tables::keep(std::string_view table, const std::function<bool(const Row&)>& wanted) {
  if (const auto found = tables_.find(table); found != tables_.end())
    std::erase_if(found->second.rows, [&wanted](const Row& row) { return !wanted(row); });
}

const std::vector<Row>& Tables::rows(std::string_view table) const {
  static const std::vector<Row> none;
  const auto found = tables_.find(table);
  return found == tables_.end() ? none : found->second.rows;
}

bool Tables::answered(std::string_view table) const {
  const auto found = tables_.find(table);
  return found != tables_.end() && found->second.problem.empty();
}

std::string Tables::problem(std::string_view table) const {
  const auto found = tables_.find(table);
  return found == tables_.end() ? "not queried" : found->second.problem;
}

}  // namespace rdma_exporter::fleet
