// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "fleet/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/text/escape.h"

namespace rdma_exporter::fleet {
namespace {

constexpr std::size_t kScreen = 12;  // problems
constexpr std::size_t kFew = 5;      // of everything else
constexpr int kSchema = 1;

// `text` made safe for a terminal: users choose labels.
std::string printable(std::string_view text) {
  std::string valid;
  core::append_utf8(valid, text);
  std::string out;
  for (const char c : valid) {
    const auto octet = static_cast<unsigned char>(c);
    out += octet < 0x20 || octet == 0x7f ? fmt::format("\\x{:02x}", octet) : std::string(1, c);
  }
  return out;
}

std::string entry(const Problem& problem) {
  std::string text = fmt::format("{:<8}  {}.\n", to_string(problem.severity), problem.title);
  std::string evidence;
  for (const Evidence& piece : problem.evidence) evidence += (evidence.empty() ? "" : "; ") + piece.text;
  text += fmt::format("          {} ({:.0f} % sure).\n", evidence, 100 * problem.confidence);
  if (!problem.blast.jobs.empty())
    text += fmt::format("          Jobs: {}.\n", fmt::join(problem.blast.jobs, ", "));
  if (!problem.next.empty()) text += fmt::format("          Next: {}.\n", problem.next);
  return text;
}

std::string listed(std::string_view title, const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string text = fmt::format("\n{}\n", title);
  for (std::size_t i = 0; i < std::min(lines.size(), kFew); ++i) text += "  " + lines[i] + "\n";
  if (lines.size() > kFew) text += fmt::format("  and {} more\n", lines.size() - kFew);
  return text;
}

std::vector<std::string> not_done(const Analysis& analysis) {
  std::vector<std::string> lines;
  for (const Check& check : analysis.checks)
    if (check.state != "done")
      lines.push_back(fmt::format("{}: {} ({})", check.name, check.state, check.why));
  return lines;
}

std::string looked_at(const Analysis& analysis) {
  std::string text;
  for (const Check& check : analysis.checks)
    if (check.state == "done") text += (text.empty() ? "" : ", ") + check.name;
  return text;
}

nlohmann::json of_problem(const Problem& problem) {
  nlohmann::json evidence = nlohmann::json::array();
  for (const Evidence& piece : problem.evidence)
    evidence.push_back({{"text", piece.text}, {"query", piece.table}, {"value", piece.value}});
  return {
      {"id", problem.id()},
      {"kind", problem.kind},
      {"severity", to_string(problem.severity)},
      {"confidence", problem.confidence},
      {"title", problem.title},
      {"component",
       {{"kind", problem.component.kind},
        {"unit", problem.component.unit},
        {"instance", problem.component.instance},
        {"device", problem.component.device},
        {"port", problem.component.port},
        {"netdev", problem.component.netdev}}},
      {"members", problem.members},
      {"blast", {{"jobs", problem.blast.jobs}, {"hosts", problem.blast.hosts}, {"nics", problem.blast.nics}}},
      {"evidence", evidence},
      {"excluded", problem.excluded},
      {"next", problem.next}};
}

}  // namespace

std::string in_words(const Analysis& analysis) {
  const std::string_view partial = analysis.partial ? ", but not everything could be examined" : "";
  if (analysis.problems.empty()) return fmt::format("Nothing found{}.", partial);
  std::size_t counts[3] = {};
  for (const Problem& problem : analysis.problems) ++counts[static_cast<std::size_t>(problem.severity)];
  return fmt::format("{} critical, {} warning{}, {} info{}", counts[2], counts[1], counts[1] == 1 ? "" : "s",
                     counts[0], partial);
}

std::string to_text(const Question& question, const Analysis& analysis) {
  std::string text = fmt::format("{} of {} hosts, {} NICs, {} probed paths at {}\n", analysis.hosts_seen,
                                 analysis.hosts_expected, analysis.nics, analysis.edges, question.at);
  text += in_words(analysis) + (analysis.problems.empty() ? "\n" : "\n\n");
  for (std::size_t i = 0; i < std::min(analysis.problems.size(), kScreen); ++i)
    text += entry(analysis.problems[i]);
  if (analysis.problems.size() > kScreen)
    text += fmt::format("and {} more: --format=json lists them all\n", analysis.problems.size() - kScreen);
  text += listed("Paths that no component explains:", analysis.unexplained);
  text += fmt::format("\nLooked at: {}.\n", looked_at(analysis));
  text += listed("Not examined, or not completely:", not_done(analysis));
  text += listed("The server warns:", analysis.warnings);
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    out += printable(std::string_view(text).substr(begin, end - begin)) + "\n";
    begin = end + 1;
  }
  return out;
}

std::string to_json(const Question& question, const Analysis& analysis) {
  using nlohmann::json;
  json document = {
      {"schema", kSchema},
      {"at", question.at},
      {"window_seconds", question.window_seconds},
      {"server",
       {{"url", question.url},
        {"partial", analysis.partial},
        {"recording_rules", analysis.rules_used},
        {"warnings", analysis.warnings}}},
      {"fleet",
       {{"hosts", analysis.hosts_expected},
        {"hosts_seen", analysis.hosts_seen},
        {"nics", analysis.nics},
        {"edges", analysis.edges}}},
      {"verdict", analysis.problems.empty() ? "nothing found" : to_string(worst(analysis.problems))},
      {"problems", json::array()},
      {"unexplained", analysis.unexplained},
      {"checks", json::array()},
      {"queries", json::array()}};
  for (const Problem& problem : analysis.problems) document["problems"].push_back(of_problem(problem));
  for (const Check& check : analysis.checks)
    document["checks"].push_back({{"name", check.name}, {"state", check.state}, {"why", check.why}});
  for (const QueryReport& query : analysis.queries)
    document["queries"].push_back({{"name", query.table},
                                   {"query", query.expression},
                                   {"seconds", query.seconds},
                                   {"series", query.series},
                                   {"bytes", query.bytes},
                                   {"error", query.error}});
  return document.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace rdma_exporter::fleet
