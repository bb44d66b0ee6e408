// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include <fmt/format.h>

#include <algorithm>

#include "core/text/escape.h"
#include "fleet/page/heat_map.h"
#include "fleet/render.h"

namespace rdma_exporter::fleet {
namespace {

using core::html_text;

// For light and dark mode, narrow and wide screens, and print. A line of cells is one dashed line.
constexpr std::string_view kStyle =
    ":root{color-scheme:light dark;--t:#222;--p:#fff;--l:#ccc;--s:#555;--k:#c62828;--w:#e6a100;--i:#5b8fc7;"
    "--o:#cfe6d1;--kb:#f7b5b0;--wb:#ffe9a8;--ib:#dce9f7}\n"
    "@media screen and (prefers-color-scheme:dark){:root{--t:#e4e6ea;--p:#16191d;--l:#3a4048;--s:#a2a9b5;"
    "--k:#ff6b5e;--w:#f0b429;--i:#6ea0ea;--o:#25422b;--kb:#6b1f1a;--wb:#5c4508;--ib:#1f3552}}\n"
    "body{font:14px sans-serif;margin:2em;color:var(--t);background:var(--p);max-width:80em}"
    "h1{font-size:1.6em;margin:0 0 .4em}h2,h3{break-after:avoid}.v{font-size:1.15em;font-weight:600}"
    "table{border-collapse:collapse;width:100%}"
    "th,td{border-bottom:1px solid var(--l);padding:.3em .6em;text-align:left;vertical-align:top}"
    "td,.b{print-color-adjust:exact;overflow-wrap:anywhere}"
    "td.critical{background:var(--kb)}td.warning{background:var(--wb)}td.info{background:var(--ib)}"
    "small{color:var(--s)}.x{display:inline-block;vertical-align:bottom;max-width:100%;overflow-x:auto;"
    "margin:.4em 0}svg{display:block}\n"
    "svg text{font:11px sans-serif;fill:var(--t)}svg .name{font-weight:600}rect{width:14px;height:14px}"
    "path{fill:none;stroke-width:14;stroke-dasharray:14 2}path.ok{stroke:var(--o)}"
    "path.critical{stroke:var(--kb)}path.warning{stroke:var(--wb)}path.info{stroke:var(--ib)}"
    "rect.critical{fill:var(--k)}rect.warning{fill:var(--w)}rect.info{fill:var(--i)}rect.root{width:200px;"
    "height:24px}line{stroke:var(--s)}svg rect.root+text{fill:#fff;font-weight:600}"
    ".b{display:inline-block;width:.9em;height:.9em;margin:0 .3em 0 1em;vertical-align:-.1em}\n"
    ".sort table,.sort tbody{display:flex;flex-direction:column}"
    ".sort tr{display:grid;grid-template-columns:6em 1fr 4em 4em 7em 18em}"
    ".sort tr:first-child{order:-2000000000!important}#by1:checked~table tr{order:var(--place)}"
    "#by2:checked~table tr{order:var(--hosts)}#by3:checked~table tr{order:var(--nics)}"
    "#by4:checked~table tr{order:var(--sure)}\n"
    "@media(max-width:55em){body{margin:1em}.sort tr{grid-template-columns:5.5em auto auto 1fr}"
    ".sort th:nth-child(n+3){display:none}.sort td:first-child{grid-row:1/4}"
    ".sort td:nth-child(2),.sort td:nth-child(6){grid-column:2/-1}.sort td:nth-child(n+2):not(:last-child)"
    "{border:0}.sort td:nth-child(3)::before{content:'Hosts: '}"
    ".sort td:nth-child(4)::before{content:'NICs: '}.sort td:nth-child(5)::before{content:'Confidence: '}"
    ".sort td:nth-child(6)::before{content:'Next: '}}\n"
    "@media "
    "print{body{margin:0;max-width:none}tr,.x{break-inside:avoid}.x{overflow:visible}svg{max-width:100%}"
    ".sort input,.sort label,.sort span{display:none}}";
constexpr std::size_t kRows = 500;  // of the table of problems
constexpr std::size_t kMembers = 20;
constexpr std::size_t kArrows = 24;
constexpr std::size_t kLines = 20;  // of what no component explains

// `place`: which one it is in the order of the components' names.
std::string row(const Problem& problem, std::size_t place) {
  const std::string_view severity = to_string(problem.severity);
  std::string out = fmt::format(
      "<tr style=\"--place:{};--hosts:-{};--nics:-{};--sure:-{:.0f}\"><td class=\"{}\">{}</td><td><b>{}</b>",
      place, problem.blast.hosts, problem.blast.nics, 100 * problem.confidence, severity, severity,
      html_text(problem.title));
  for (const Evidence& piece : problem.evidence) out += fmt::format("<br>{}", html_text(piece.text));
  for (const std::string& other : problem.excluded)
    out += fmt::format("<br><small>Ruled out: {}</small>", html_text(other));
  if (problem.members.size() > 1) {
    const std::size_t shown = std::min(problem.members.size(), kMembers);
    out += "<br><small>";
    for (std::size_t i = 0; i < shown; ++i) out += (i == 0 ? "" : ", ") + html_text(problem.members[i]);
    if (shown < problem.members.size()) out += fmt::format(" and {} more", problem.members.size() - shown);
    out += "</small>";
  }
  return out + fmt::format("</td><td>{}</td><td>{}</td><td>{:.0f} %</td><td>{}</td></tr>\n",
                           problem.blast.hosts, problem.blast.nics, 100 * problem.confidence,
                           html_text(problem.next));
}

std::string problems(const Analysis& analysis) {
  if (analysis.problems.empty()) return "";
  const std::size_t shown = std::min(analysis.problems.size(), kRows);
  std::vector<std::pair<std::string, std::size_t>> names;
  for (std::size_t i = 0; i < shown; ++i) {
    const Component& where = analysis.problems[i].component;
    names.emplace_back(fmt::format("{} {} {}", where.unit, where.instance, where.device), i);
  }
  std::sort(names.begin(), names.end());
  std::vector<std::size_t> places(shown);
  for (std::size_t place = 0; place < shown; ++place) places[names[place].second] = place;
  // The order of the rows is a matter of style, so that no script is needed to sort them.
  std::string out = "<div class=\"sort\"><span>Sort by</span>\n";
  for (const auto& [number, by] : {std::pair(0, "severity"), std::pair(1, "place"), std::pair(2, "hosts"),
                                   std::pair(3, "NICs"), std::pair(4, "confidence")})
    out += fmt::format("<input type=\"radio\" name=\"by\" id=\"by{0}\"{1}><label for=\"by{0}\">{2}</label>\n",
                       number, number == 0 ? " checked" : "", by);
  out += "<table><tr><th>Severity<th>What<th>Hosts<th>NICs<th>Confidence<th>Next</tr>\n";
  for (std::size_t i = 0; i < shown; ++i) out += row(analysis.problems[i], places[i]);
  return out + "</table></div>\n";
}

std::string legend() {
  return "<p><span class=\"b\" style=\"margin-left:0;background:var(--k)\"></span>critical"
         "<span class=\"b\" style=\"background:var(--w)\"></span>warning"
         "<span class=\"b\" style=\"background:var(--i)\"></span>info"
         "<span class=\"b\" style=\"background:var(--o)\"></span>nothing found"
         "<span class=\"b\" style=\"background:var(--kb)\"></span>a whole row: the leaf of these hosts</p>\n";
}

// The root on the left, paused hosts on the right; the thickness of lines is the share of time.
std::string arrows(const Problem& problem, const std::vector<PauseEdge>& edges) {
  const int height = 22 * static_cast<int>(edges.size()) + 20;
  const std::string root = problem.component.instance.empty()
                               ? "switches"
                               : host_part(problem.component.instance) + " " + problem.component.device;
  std::string out =
      fmt::format("<rect x=\"0\" y=\"{}\" class=\"root {}\"/><text x=\"8\" y=\"{}\">{}</text>\n",
                  height / 2 - 12, to_string(problem.severity), height / 2 + 4, html_text(root));
  int y = 10;
  for (const PauseEdge& edge : edges) {
    out += fmt::format(
        "<line x1=\"200\" y1=\"{}\" x2=\"440\" y2=\"{}\" stroke-width=\"{:.1f}\"/>"
        "<text x=\"450\" y=\"{}\">{} port{} of {} {}, paused {:.0f} % of the time</text>\n",
        height / 2, y + 8, 1 + 8 * std::min(1.0, edge.share), y + 12, edge.nics, edge.nics == 1 ? "" : "s",
        html_text(edge.unit.empty() ? "all hosts" : edge.unit), html_text(edge.device), 100 * edge.share);
    y += 22;
  }
  return picture(820, height, "Who pauses whom", out);
}

std::string pause_graph(const Analysis& analysis) {
  std::string out;
  for (const Problem& problem : analysis.problems) {
    std::vector<PauseEdge> edges;
    for (const PauseEdge& edge : analysis.pauses)
      if (edge.root == problem.id()) edges.push_back(edge);
    if (edges.empty()) continue;
    std::sort(edges.begin(), edges.end(), [](const auto& a, const auto& b) { return a.nics > b.nics; });
    edges.resize(std::min(edges.size(), kArrows));
    out += fmt::format("<h3>{}</h3>\n", html_text(problem.title)) + arrows(problem, edges);
  }
  return out.empty() ? out : "<h2>Who pauses whom</h2>\n" + out;
}

std::string unexplained(const Analysis& analysis) {
  if (analysis.unexplained.empty()) return "";
  std::string out = "<h2>Paths that no component explains</h2>\n<ul>\n";
  const std::size_t shown = std::min(analysis.unexplained.size(), kLines);
  for (std::size_t i = 0; i < shown; ++i) out += fmt::format("<li>{}\n", html_text(analysis.unexplained[i]));
  out += "</ul>\n";
  if (shown < analysis.unexplained.size())
    out += fmt::format("<p>And {} more: --format=json lists them all.</p>\n",
                       analysis.unexplained.size() - shown);
  return out;
}

std::string checks(const Analysis& analysis) {
  std::string out = "<h2>What was looked at</h2>\n<table><tr><th>What<th>State<th>Why</tr>\n";
  for (const Check& check : analysis.checks)
    out += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td></tr>\n", html_text(check.name),
                       html_text(check.state), html_text(check.why));
  out += "</table>\n";
  for (const std::string& line : analysis.warnings)
    out += fmt::format("<p>The server warns: {}</p>\n", html_text(line));
  return out;
}

}  // namespace

std::string to_html(const Question& question, const Analysis& analysis) {
  const std::string verdict = in_words(analysis);
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>RDMA fleet: {0}</title>\n"
      "<style>{1}</style></head>\n<body><h1>RDMA fleet</h1>\n<p class=\"v\">{0}</p>\n"
      "<p>{2} of {3} hosts, {4} NICs, {5} probed paths at {6}, counters of {7} minutes.</p>\n"
      "{8}<h2>Rails and hosts</h2>\n{9}{10}{11}{12}{13}</body></html>\n",
      verdict, kStyle, analysis.hosts_seen, analysis.hosts_expected, analysis.nics, analysis.edges,
      html_text(question.at), question.window_seconds / 60, problems(analysis), legend(), heat_map(analysis),
      pause_graph(analysis), unexplained(analysis), checks(analysis));
}

}  // namespace rdma_exporter::fleet
