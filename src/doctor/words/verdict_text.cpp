// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "doctor/words/verdict_text.h"

#include <fmt/core.h>

#include "doctor/render.h"
#include "doctor/words/problem.h"

namespace rdma_exporter::doctor {
namespace {

constexpr std::size_t kMostChecks = 6;

std::string line(Verdict verdict, const std::string& text, bool colour) {
  return fmt::format("{}  {}\n", coloured(fmt::format("{:<8}", to_string(verdict)), verdict, colour), text);
}

std::string headline(const Facts& facts, const Tally& counts, Verdict verdict, bool colour) {
  const std::size_t devices = facts.devices.size() + facts.silent_devices.size();
  const std::string watched =
      facts.sample_seconds > 0 ? fmt::format(", watched for {:.3g} s", facts.sample_seconds) : "";
  const std::string kernel =
      facts.system.kernel_release ? "Linux " + printable(*facts.system.kernel_release) + ", " : "";
  return fmt::format("{}: {}: {} ({}{} RDMA device{}{})\n",
                     printable(facts.system.host_name.value_or("unknown host")),
                     coloured(to_string(verdict), verdict, colour), verdict_in_words(counts), kernel, devices,
                     devices == 1 ? "" : "s", watched);
}

std::string advice_line(std::string_view advice) {
  return fmt::format("          To do: {}{}\n", advice, advice.ends_with('?') ? "" : ".");
}

}  // namespace

std::string verdict_text(const Facts& facts, const Findings& findings, bool colour) {
  const Tally counts = tally(findings);
  std::string text = headline(facts, counts, worst(findings), colour);
  const auto problems = problems_of(findings);
  if (!problems.empty()) text += "\n";
  for (const Problem& problem : problems) {
    text += line(problem.verdict, fmt::format("{}: {}.", places_of(problem), problem.sentence), colour);
    text += advice_line(problem.check->advice);
  }
  text += "\n";
  if (counts.unknown > 0)
    text += line(Verdict::unknown,
                 fmt::format("{} checks could not be made: {}. --verbose shows why.", counts.unknown,
                             checks_with(findings, Verdict::unknown, kMostChecks)),
                 colour);
  text +=
      line(Verdict::ok,
           fmt::format("{} checks: {}.", counts.ok, checks_with(findings, Verdict::ok, kMostChecks)), colour);
  return text;
}

}  // namespace rdma_exporter::doctor
