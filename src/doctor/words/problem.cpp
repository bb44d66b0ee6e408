// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "doctor/words/problem.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "doctor/judge.h"
#include "doctor/render.h"

namespace rdma_exporter::doctor {
namespace {

std::string sentence_of(const Finding& finding) {
  if (!finding.sentence.empty()) return printable(finding.sentence);
  const std::string evidence = printable(finding.evidence);
  if (finding.check->problem.empty()) return fmt::format("{} ({})", evidence, finding.check->id);
  return fmt::format(fmt::runtime(finding.check->problem), evidence);
}

std::string counted(std::size_t number, std::string_view thing) {
  return fmt::format("{} {}{}", number, thing, number == 1 ? "" : "s");
}

}  // namespace

std::vector<Problem> problems_of(const Findings& findings) {
  std::vector<Problem> problems;
  std::map<std::tuple<const Check*, Verdict, std::string>, std::size_t> known;
  for (const Finding& finding : findings) {
    if (finding.verdict < Verdict::warning) continue;
    std::string sentence = sentence_of(finding);
    const auto [place, is_new] =
        known.emplace(std::tuple(finding.check, finding.verdict, sentence), problems.size());
    if (is_new) problems.push_back({finding.check, finding.verdict, std::move(sentence), {}});
    problems[place->second].findings.push_back(&finding);
  }
  std::stable_sort(problems.begin(), problems.end(),
                   [](const Problem& one, const Problem& other) { return one.verdict > other.verdict; });
  return problems;
}

std::string place_of(const Subject& subject) {
  std::string text = subject.device;
  if (!subject.port.empty()) text += "/" + subject.port;
  if (!subject.netdev.empty()) text += (text.empty() ? "" : " ") + subject.netdev;
  return text.empty() ? "host" : printable(text);
}

std::string places_of(const Problem& problem, std::size_t at_most) {
  std::vector<std::string> places;
  for (const Finding* finding : problem.findings) places.push_back(place_of(finding->subject));
  return listed(places, at_most);
}

Tally tally(const Findings& findings) {
  Tally counts;
  for (const Finding& finding : findings) {
    if (finding.verdict == Verdict::ok) ++counts.ok;
    if (finding.verdict == Verdict::unknown) ++counts.unknown;
    if (finding.verdict == Verdict::warning) ++counts.warning;
    if (finding.verdict == Verdict::critical) ++counts.critical;
  }
  return counts;
}

std::string verdict_in_words(const Tally& counts) {
  if (counts.critical == 0 && counts.warning == 0) return "nothing is wrong";
  if (counts.critical == 0) return counted(counts.warning, "warning");
  const std::string critical = counted(counts.critical, "critical problem");
  return counts.warning == 0 ? critical : critical + " and " + counted(counts.warning, "warning");
}

std::string checks_with(const Findings& findings, Verdict verdict, std::size_t at_most) {
  std::vector<std::string> ids;
  for (const Finding& finding : findings)
    if (finding.verdict == verdict && std::find(ids.begin(), ids.end(), finding.check->id) == ids.end())
      ids.emplace_back(finding.check->id);
  return listed(ids, at_most);
}

}  // namespace rdma_exporter::doctor
