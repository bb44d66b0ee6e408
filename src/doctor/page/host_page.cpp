// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "doctor/page/host_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "core/text/escape.h"
#include "doctor/checks/checks.h"
#include "doctor/judge.h"
#include "doctor/page/port_summary.h"
#include "doctor/render.h"
#include "doctor/words/problem.h"

namespace rdma_exporter::doctor {
namespace {

using core::html_text;

// For light and dark mode, narrow and wide screens, and print: bars keep their colour on paper, collapsed
// parts stay collapsed.
constexpr std::string_view kPageStyle =
    ":root{color-scheme:light "
    "dark;--l:#d0d4da;--c:#f6f7f9;--s:#5b6270;--o:#3a7d44;--w:#b26a00;--k:#c0281c;--u:#6b7280;"
    "--b:#3b73c4}\n"
    "@media(prefers-color-scheme:dark){:root{--l:#3a4048;--c:#1d2126;--s:#a2a9b5;--o:#6cc07a;--w:#f0ad4e;--k:"
    "#ff7b70;"
    "--u:#9aa3b2;--b:#6ea0ea}}\n"
    "body{font:15px/1.4 system-ui,sans-serif;margin:1.2em auto;max-width:80em;padding:0 "
    "1em;overflow-wrap:anywhere}\n"
    "h1{font-size:1.5em;margin:.2em 0}h2{font-size:1.15em;margin:1.2em 0 .4em}h3{font-size:1em;margin:0}\n"
    "p{margin:.25em 0}small,.s{color:var(--s);font-size:.87em;font-weight:400}\n"
    ".v{font-size:1.15em;font-weight:600}.v.ok{color:var(--o)}.v.unknown{color:var(--u)}.v.warning{color:var("
    "--w)}"
    ".v.critical{color:var(--k)}li.warning::marker{color:var(--w)}li.critical::marker{color:var(--k)}\n"
    ".g{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,23em),1fr));gap:.7em}\n"
    "section{background:var(--c);border:1px solid var(--l);border-left:.3em solid "
    "var(--o);border-radius:.3em;"
    "padding:.5em .8em;break-inside:avoid}\n"
    "section.unknown{border-left-color:var(--u)}section.warning{border-left-color:var(--w)}"
    "section.critical{border-left-color:var(--k)}\n"
    "ul{margin:.3em 0;padding-left:1.2em}dt{font-weight:600;margin-top:.5em}dd{margin-left:1em}\n"
    ".f{display:flex;align-items:center;gap:.5em;font-size:.87em}.f span{width:9.5em}.f i+span{width:6em}\n"
    ".f i{flex:1;height:.6em;background:var(--l);border-radius:.2em;overflow:hidden}\n"
    ".f b{display:block;height:100%;background:var(--b);print-color-adjust:exact}.f "
    "b.x{background:var(--k)}\n"
    "details{margin:.4em 0}summary{cursor:pointer}table{border-collapse:collapse;font-size:.87em}\n"
    "th,td{text-align:left;padding:.1em .8em .1em 0;vertical-align:top}.n a{margin-right:1em}"
    ".n.w{color:var(--w)}a{color:var(--b)}\n";

// Keeps the page readable if many ports are broken.
constexpr std::size_t kMaxPorts = 256;
constexpr std::size_t kMaxWholePorts = 16;  // of the others only traffic and the number of problems
constexpr std::size_t kMaxSentences = 6;
constexpr std::size_t kMaxEvidence = 40;
constexpr std::size_t kLongestEvidence = 320;
constexpr std::size_t kMaxCounters = 60;
constexpr std::size_t kMaxOwners = 20;

std::string shortened(const std::string& text) {
  if (text.size() <= kLongestEvidence) return text;
  std::size_t end = kLongestEvidence;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)
    --end;  // do not cut a character in two
  return text.substr(0, end) + " ...";
}

std::string capital(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::string bar_html(const Bar& bar) {
  return fmt::format("<p class=f><span>{}</span><i><b{} style=width:{:.0f}%></b></i><span>{}</span></p>\n",
                     html_text(bar.label), bar.is_bad ? " class=x" : "", bar.share * 100,
                     html_text(bar.text));
}

std::string sentences_html(const PortSummary& port, bool whole) {
  if (port.sentences.empty()) return {};
  if (!whole)
    return fmt::format("<p class=s>{} problem{}</p>\n", port.sentences.size(),
                       port.sentences.size() == 1 ? "" : "s");
  std::string out = "<ul>";
  for (std::size_t i = 0; i < std::min(port.sentences.size(), kMaxSentences); ++i)
    out += fmt::format("<li>{}.\n", html_text(capital(port.sentences[i])));
  if (port.sentences.size() > kMaxSentences)
    out += fmt::format("<li>{} more problems\n", port.sentences.size() - kMaxSentences);
  return out + "</ul>\n";
}

std::string port_html(const PortSummary& port, bool whole) {
  std::string out =
      fmt::format("<section class={}><h3>{}<small>{}</small></h3>\n", to_string(port.verdict),
                  html_text(port.name), html_text(port.netdev.empty() ? "" : " " + port.netdev));
  out += fmt::format("<p>{}</p>\n", html_text(port.state));
  for (const Bar& bar : port.bars)
    if (whole || !bar.is_bad) out += bar_html(bar);
  out += sentences_html(port, whole);
  if (whole && !port.moving.empty())
    out += fmt::format("<p class=s>Rising: {}.</p>\n", html_text(port.moving));
  if (whole && !port.device.empty()) out += fmt::format("<p class=s>{}</p>\n", html_text(port.device));
  return out + "</section>\n";
}

std::string ports_html(const Facts& facts, const std::vector<Problem>& problems) {
  const auto ports = summarize_ports(facts, problems);
  std::string out = "<h2>Ports</h2>\n";
  if (ports.empty()) return out + "<p>No RDMA device.</p>\n";
  out += "<div class=g>\n";
  for (std::size_t i = 0; i < std::min(ports.size(), kMaxPorts); ++i)
    out += port_html(ports[i], i < kMaxWholePorts);
  out += "</div>\n";
  if (ports.size() > kMaxPorts) out += fmt::format("<p>{} more ports.</p>\n", ports.size() - kMaxPorts);
  return out;
}

// Problems that do not belong to a port of this host.
std::string host_problems_html(const std::vector<Problem>& problems) {
  std::string items;
  for (const Problem& problem : problems)
    if (problem.findings.front()->subject.device.empty())
      items +=
          fmt::format("<li class={}>{}.\n", to_string(problem.verdict), html_text(capital(problem.sentence)));
  return items.empty() ? items : "<h2>The host</h2>\n<ul>" + items + "</ul>\n";
}

// Each piece of advice once, with all places that need it.
std::string advice_html(const std::vector<Problem>& problems) {
  std::vector<std::pair<const Check*, std::vector<std::string>>> advice;
  for (const Problem& problem : problems) {
    auto known = std::find_if(advice.begin(), advice.end(),
                              [&](const auto& entry) { return entry.first == problem.check; });
    if (known == advice.end()) known = advice.insert(advice.end(), {problem.check, {}});
    for (const Finding* finding : problem.findings) known->second.push_back(place_of(finding->subject));
  }
  std::string items;
  for (const auto& [check, places] : advice)
    items += fmt::format("<dt>{} <small>{}</small><dd>{}. <em>{}{}</em>\n", html_text(listed(places)),
                         check->id, html_text(check->means), html_text(check->advice),
                         check->advice.ends_with('?') ? "" : ".");
  return items.empty() ? items : "<h2>What to do</h2>\n<dl>" + items + "</dl>\n";
}

std::string folded(const std::string& title, const std::string& body) {
  return fmt::format("<details><summary>{}</summary>\n{}</details>\n", html_text(title), body);
}

// How often each check came to a verdict.
std::string ok_html(const Findings& findings, std::size_t number) {
  std::vector<std::pair<std::string_view, std::size_t>> checks;
  for (const Finding& finding : findings) {
    if (finding.verdict != Verdict::ok) continue;
    const auto known = std::find_if(checks.begin(), checks.end(),
                                    [&](const auto& entry) { return entry.first == finding.check->id; });
    if (known == checks.end()) {
      checks.emplace_back(finding.check->id, 1);
    } else {
      ++known->second;
    }
  }
  std::string text;
  for (const auto& [id, times] : checks)
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", id, times);
  return number == 0 ? ""
                     : folded(fmt::format("{} checks are ok", number), "<p>" + html_text(text) + ".</p>\n");
}

std::string unknown_html(const Findings& findings, std::size_t number) {
  std::map<std::pair<std::string_view, std::string>, std::vector<std::string>> reasons;
  for (const Finding& finding : findings)
    if (finding.verdict == Verdict::unknown)
      reasons[{finding.check->id, printable(finding.evidence)}].push_back(place_of(finding.subject));
  std::string items;
  std::size_t shown = 0;
  for (const auto& [key, places] : reasons) {
    if (shown++ == kMaxEvidence) break;
    items += fmt::format("<li>{}: {} ({})\n", key.first, html_text(shortened(key.second)),
                         html_text(listed(places)));
  }
  return number == 0 ? ""
                     : folded(fmt::format("{} checks could not be made", number), "<ul>" + items + "</ul>\n");
}

std::string evidence_html(const std::vector<Problem>& problems) {
  std::string items;
  std::size_t shown = 0;
  for (const Problem& problem : problems)
    for (const Finding* finding : problem.findings) {
      if (shown++ >= kMaxEvidence) continue;
      items += fmt::format("<li>{} {}: <code>{}</code>\n", html_text(place_of(finding->subject)),
                           finding->check->id, html_text(shortened(printable(finding->evidence))));
    }
  if (shown > kMaxEvidence) items += fmt::format("<li>{} more\n", shown - kMaxEvidence);
  return items.empty() ? items : folded("Evidence: what was read", "<ul>" + items + "</ul>\n");
}

std::string counters_html(const Facts& facts) {
  std::string rows;
  std::size_t shown = 0;
  for (const CounterFacts& counter : facts.counters) {
    if (counter.total <= 0 || !matters(counter) || shown++ >= kMaxCounters) continue;
    rows += fmt::format("<tr><td>{}{{{}}}<td>{:.12g}<td>{}\n", counter.metric,
                        html_text(printable(counter.labels)), counter.total,
                        counter.moved ? fmt::format("+{:.12g}", *counter.moved) : "-");
  }
  if (rows.empty()) return folded("All counters of errors, losses and congestion are 0", "");
  if (shown > kMaxCounters) rows += fmt::format("<tr><td>{} more\n", shown - kMaxCounters);
  return folded(
      "Counters that are not 0",
      "<table><tr><th>Counter<th>Since the driver was loaded<th>While watching\n" + rows + "</table>\n");
}

std::string owners_html(std::vector<Owner> owners) {
  if (owners.empty()) return {};
  std::stable_sort(owners.begin(), owners.end(), [](const Owner& one, const Owner& other) {
    return one.memory_bytes > other.memory_bytes;
  });
  std::string rows;
  for (std::size_t i = 0; i < std::min(owners.size(), kMaxOwners); ++i)
    rows += fmt::format("<tr><td>{}<td>{} {}<td>{}<td>{}<td>{:.1f} MiB\n", html_text(owners[i].device),
                        html_text(owners[i].kind), html_text(printable(owners[i].name)),
                        html_text(printable(owners[i].container)), owners[i].qps,
                        static_cast<double>(owners[i].memory_bytes) / (1024.0 * 1024.0));
  return folded(
      "Owners with the most registered memory",
      "<table><tr><th>Device<th>Owner<th>Container<th>Queue pairs<th>Memory\n" + rows + "</table>\n");
}

std::string head_html(const Facts& facts, const Findings& findings, const Tally& counts,
                      const PageFrame& frame) {
  const std::string host = html_text(printable(facts.system.host_name.value_or("this host")));
  const std::string refresh =
      frame.refresh_seconds == 0
          ? ""
          : fmt::format("<meta http-equiv=refresh content={}>\n", frame.refresh_seconds);
  const Verdict verdict = worst(findings);
  const std::string kernel =
      facts.system.kernel_release ? "Linux " + printable(*facts.system.kernel_release) + ", " : "";
  const std::string watched = facts.sample_seconds > 0
                                  ? fmt::format(", counters watched for {:.3g} s", facts.sample_seconds)
                                  : ", counters seen once: no rates yet";
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8>\n{}"
      "<meta name=viewport content=\"width=device-width\">\n"
      "<title>RDMA of {}: {}</title>\n<style>{}</style></head>\n<body><h1>RDMA of {}</h1>\n"
      "<p class=\"v {}\">{}: {}</p>\n<p class=s>{}{} devices{}</p>\n{}",
      refresh, host, to_string(verdict), kPageStyle, host, to_string(verdict),
      capital(std::string(to_string(verdict))), verdict_in_words(counts), html_text(kernel),
      facts.devices.size() + facts.silent_devices.size(), watched, frame.head);
}

}  // namespace

std::string host_page(const Facts& facts, const Findings& findings, std::vector<Owner> owners,
                      const PageFrame& frame) {
  const Tally counts = tally(findings);
  const auto problems = problems_of(findings);
  std::string out = head_html(facts, findings, counts, frame);
  out += host_problems_html(problems) + ports_html(facts, problems) + advice_html(problems);
  out += "<h2>Details</h2>\n" + ok_html(findings, counts.ok) + unknown_html(findings, counts.unknown);
  out += evidence_html(problems) + counters_html(facts) + owners_html(std::move(owners));
  return out + "</body></html>\n";
}

}  // namespace rdma_exporter::doctor
