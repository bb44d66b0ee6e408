// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "core/exposition/html.h"
#include "doctor/report.h"

namespace rdma_exporter::doctor {
namespace {

constexpr std::size_t kWidest = 60;  // a longer cell runs over, the next one is not pushed for all rows

constexpr std::string_view kStyle =
    "body{font:14px sans-serif;margin:2em;color:#222}table{border-collapse:collapse;margin-bottom:1.5em}"
    "th,td{border:1px solid #ccc;padding:.25em .6em;text-align:left;vertical-align:top}th{background:#eee}"
    ".ok{color:#2a7a2a}.unknown{color:#666}.warning{background:#ffe9a8}.critical{background:#f7b5b0;font-"
    "weight:bold}";

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

// A verdict is shown by colour too.
std::string cell_class(std::string_view cell) {
  constexpr std::array<std::string_view, 4> kVerdicts{"ok", "unknown", "warning", "critical"};
  const bool verdict = std::find(kVerdicts.begin(), kVerdicts.end(), cell) != kVerdicts.end();
  return verdict ? fmt::format(" class=\"{}\"", cell) : "";
}

std::string html_table(const ReportTable& table) {
  std::string out = fmt::format("<h2>{}</h2>\n", core::html_text(table.title));
  if (table.rows.empty()) return out + fmt::format("<p>{}</p>\n", core::html_text(table.when_empty));
  out += "<table><tr>";
  for (const std::string& column : table.columns) out += fmt::format("<th>{}</th>", core::html_text(column));
  out += "</tr>\n";
  for (const auto& row : table.rows) {
    out += "<tr>";
    for (const std::string& cell : row)
      out += fmt::format("<td{}>{}</td>", cell_class(cell), core::html_text(cell));
    out += "</tr>\n";
  }
  return out + "</table>\n";
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

std::string report_html(const Report& report) {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta "
      "charset=\"utf-8\"><title>{}</title>\n<style>{}</style></head>\n"
      "<body><h1>{}</h1>\n<p>{}</p>\n",
      core::html_text(report.title), kStyle, core::html_text(report.title), core::html_text(report.summary));
  for (const ReportTable& table : report.tables) out += html_table(table);
  return out + "</body></html>\n";
}

}  // namespace rdma_exporter::doctor
