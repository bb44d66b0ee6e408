// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "doctor/render.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "core/text/escape.h"
#include "doctor/words/problem.h"

namespace rdma_exporter::doctor {
namespace {

std::string_view colour_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::ok:
      return "\x1b[32m";
    case Verdict::unknown:
      return "\x1b[36m";
    case Verdict::warning:
      return "\x1b[33m";
    case Verdict::critical:
      return "\x1b[1;31m";
  }
  return "";
}

// "port 1, eth0": what the heading does not contain.
std::string place(const Subject& subject) {
  std::string text = subject.port.empty() ? "" : "port " + subject.port;
  if (!subject.netdev.empty()) text += (text.empty() ? "" : ", ") + subject.netdev;
  return text.empty() ? text : text + ": ";
}

std::string entry(const Finding& finding, bool colour) {
  const std::string word =
      coloured(fmt::format("{:<8}", to_string(finding.verdict)), finding.verdict, colour);
  std::string text = fmt::format("  {}  {:<16} {}{}\n", word, finding.check->id, place(finding.subject),
                                 printable(finding.evidence));
  if (finding.verdict < Verdict::warning) return text;
  text += fmt::format("            {:<16} {}.\n", "", finding.check->means);
  text += fmt::format("            {:<16} To do: {}.\n", "", finding.check->advice);
  return text;
}

// Devices in the order of their worst finding, like the findings.
std::vector<std::string> owners(const Findings& findings) {
  std::vector<std::string> names;
  for (const Finding& finding : findings)
    if (std::find(names.begin(), names.end(), finding.subject.device) == names.end())
      names.push_back(finding.subject.device);
  return names;
}

std::map<Verdict, std::size_t> count(const Findings& findings) {
  std::map<Verdict, std::size_t> counts;
  for (const Finding& finding : findings) ++counts[finding.verdict];
  return counts;
}

std::string host_name(const Facts& facts) { return printable(facts.system.host_name.value_or("unknown")); }
std::string kernel(const Facts& facts) { return printable(facts.system.kernel_release.value_or("unknown")); }

constexpr std::size_t kMaxChecks = 6;

std::string line(Verdict verdict, const std::string& text, bool colour) {
  return fmt::format("{}  {}\n", coloured(fmt::format("{:<8}", to_string(verdict)), verdict, colour), text);
}

std::string headline(const Facts& facts, const Tally& counts, Verdict verdict, bool colour) {
  const std::size_t devices = facts.devices.size() + facts.silent_devices.size();
  const std::string watched =
      facts.sample_seconds > 0 ? fmt::format(", watched for {:.3g} s", facts.sample_seconds) : "";
  const std::string release =
      facts.system.kernel_release ? "Linux " + printable(*facts.system.kernel_release) + ", " : "";
  return fmt::format("{}: {}: {} ({}{} RDMA device{}{})\n",
                     printable(facts.system.host_name.value_or("unknown host")),
                     coloured(to_string(verdict), verdict, colour), verdict_in_words(counts), release,
                     devices, devices == 1 ? "" : "s", watched);
}

std::string advice_line(std::string_view advice) {
  return fmt::format("          To do: {}{}\n", advice, advice.ends_with('?') ? "" : ".");
}

}  // namespace

std::string coloured(std::string_view text, Verdict verdict, bool colour) {
  return colour ? fmt::format("{}{}\x1b[0m", colour_of(verdict), text) : std::string(text);
}

std::string printable(std::string_view text) {
  std::string valid;
  core::append_utf8(valid, text);
  std::string out;
  for (const char c : valid) {
    const auto octet = static_cast<unsigned char>(c);
    if (octet < 0x20 || octet == 0x7f) {
      out += fmt::format("\\x{:02x}", octet);
    } else {
      out += c;
    }
  }
  return out;
}

std::string to_text(const Facts& facts, const Findings& findings, bool colour) {
  auto counts = count(findings);
  std::string text =
      fmt::format("{}, kernel {}: {} ({} critical, {} warning, {} unknown, {} ok)\n", host_name(facts),
                  kernel(facts), to_string(worst(findings)), counts[Verdict::critical],
                  counts[Verdict::warning], counts[Verdict::unknown], counts[Verdict::ok]);
  for (const std::string& owner : owners(findings)) {
    text += fmt::format("\n{}\n", owner.empty() ? "host" : printable(owner));
    for (const Finding& finding : findings)
      if (finding.subject.device == owner) text += entry(finding, colour);
  }
  return text;
}

std::string to_json(const Facts& facts, const Findings& findings) {
  using nlohmann::json;
  auto counts = count(findings);
  json document = {{"host", host_name(facts)},
                   {"kernel", kernel(facts)},
                   {"verdict", to_string(worst(findings))},
                   {"sample_seconds", facts.sample_seconds},
                   {"counts",
                    {{"critical", counts[Verdict::critical]},
                     {"warning", counts[Verdict::warning]},
                     {"unknown", counts[Verdict::unknown]},
                     {"ok", counts[Verdict::ok]}}},
                   {"findings", json::array()}};
  for (const Finding& finding : findings)
    document["findings"].push_back({{"check", finding.check->id},
                                    {"title", finding.check->title},
                                    {"device", printable(finding.subject.device)},
                                    {"port", finding.subject.port},
                                    {"netdev", printable(finding.subject.netdev)},
                                    {"verdict", to_string(finding.verdict)},
                                    {"evidence", printable(finding.evidence)},
                                    {"means", finding.check->means},
                                    {"advice", finding.check->advice},
                                    {"source", finding.check->source}});
  return document.dump(1) + "\n";
}

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
                             checks_with(findings, Verdict::unknown, kMaxChecks)),
                 colour);
  text +=
      line(Verdict::ok,
           fmt::format("{} checks: {}.", counts.ok, checks_with(findings, Verdict::ok, kMaxChecks)), colour);
  return text;
}

}  // namespace rdma_exporter::doctor
