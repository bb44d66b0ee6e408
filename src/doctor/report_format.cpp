// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include <fmt/core.h>

#include <algorithm>

#include "doctor/report.h"

namespace rdma_exporter::doctor {
namespace {

constexpr std::size_t kWidest = 60;  // a longer cell overflows, rather than widening the column for all rows

std::vector<std::size_t> widths(const ReportTable& table) {
  std::vector<std::size_t> result;
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    std::size_t width = table.columns[column].size();
    for (const auto& row : table.rows) width = std::max(width, row[column].size());
    result.push_back(std::min(width, kWidest));
  }
  return result;
}

std::string line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) {
  std::string text = " ";
  for (std::size_t column = 0; column < cells.size(); ++column)
    text += fmt::format(" {:<{}} ", cells[column], widths[column]);
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

}  // namespace

std::string report_text(const Report& report) {
  std::string out = fmt::format("{}\n{}\n", report.title, report.summary);
  for (const ReportTable& table : report.tables) {
    out += fmt::format("\n{}\n", table.title);
    if (table.rows.empty()) out += "  " + table.when_empty + "\n";
    if (table.rows.empty()) continue;
    const auto columns = widths(table);
    out += line(table.columns, columns);
    for (const auto& row : table.rows) out += line(row, columns);
  }
  return out;
}

}  // namespace rdma_exporter::doctor
