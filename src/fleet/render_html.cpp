// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "core/text/escape.h"
#include "fleet/render.h"

namespace rdma_exporter::fleet {
namespace {

using core::html_text;

constexpr std::string_view kStyle =
    "body{font:14px "
    "sans-serif;margin:2em;color:#222;max-width:70em}table{border-collapse:collapse;width:100%}"
    "th,td{border-bottom:1px solid #ccc;padding:.3em .6em;text-align:left;vertical-align:top}"
    ".critical{background:#f7b5b0}.warning{background:#ffe9a8}.info{background:#dce9f7}small{color:#555}"
    "svg text{font:11px sans-serif;fill:#222}"
    ".sort table,.sort tbody{display:flex;flex-direction:column}"
    ".sort tr{display:grid;grid-template-columns:6em 1fr 4em 4em 7em 16em}"
    ".sort tr:first-child{order:-2000000000!important}#by1:checked~table tr{order:var(--place)}"
    "#by2:checked~table tr{order:var(--hosts)}#by3:checked~table tr{order:var(--nics)}"
    "#by4:checked~table tr{order:var(--sure)}"
    "@media(max-width:55em){.sort tr{grid-template-columns:6em 1fr}.sort th:nth-child(n+3){display:none}"
    ".sort td:nth-child(n+2){grid-column:2}.sort td:first-child{grid-row:1/6}"
    ".sort td:nth-child(-n+5){border:0}.sort td:nth-child(3)::before{content:'Hosts: '}"
    ".sort td:nth-child(4)::before{content:'NICs: '}.sort td:nth-child(5)::before{content:'Confidence: '}"
    ".sort td:nth-child(6)::before{content:'Next: '}}"
    "@media print{body{margin:0}tr,svg{break-inside:avoid}.sort input,.sort label,.sort span{display:none}}";
constexpr int kCell = 14;
constexpr int kLabel = 130;
constexpr int kWide = 700;
constexpr std::size_t kRows = 500;  // of the table of problems
constexpr std::size_t kMembers = 20;
constexpr std::size_t kArrows = 24;
constexpr std::size_t kFewUnits = 12;  // of which all hosts are drawn
constexpr std::size_t kMaxUnits = 40;  // of which hosts are drawn where there are more
constexpr std::string_view kFine = "#dfeee0";

std::string_view colour(Severity severity) {
  switch (severity) {
    case Severity::critical:
      return "#c62828";
    case Severity::warning:
      return "#e6a100";
    case Severity::info:
      return "#5b8fc7";
  }
  return "#5b8fc7";
}

// `place`: which one it is in the order of the components' names.
std::string row(const Problem& problem, std::size_t place) {
  const std::string_view severity = to_string(problem.severity);
  std::string out = fmt::format(
      "<tr style=\"--place:{};--hosts:-{};--nics:-{};--sure:-{:.0f}\"><td class=\"{}\">{}</td><td><b>{}</b>",
      place, problem.blast.hosts, problem.blast.nics, 100 * problem.confidence, severity, severity,
      html_text(problem.title));
  for (const Evidence& piece : problem.evidence) out += fmt::format("<br>{}", html_text(piece.text));
  for (const std::string& other : problem.excluded)
    out += fmt::format("<br><small>Not: {}</small>", html_text(other));
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
  if (analysis.problems.empty()) return "<p>Nothing found.</p>\n";
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

// "su2" before "su10".
struct NaturalOrder {
  bool operator()(const std::string& a, const std::string& b) const {
    return ::strverscmp(a.c_str(), b.c_str()) < 0;
  }
};

std::string rect(int x, int y, int width, std::string_view fill, const std::string& title) {
  return fmt::format(
      "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"><title>{}</title></rect>\n", x, y,
      width, kCell, fill, html_text(title));
}

std::string rail_name(int y, const std::string& rail) {
  return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>", kLabel - 8, y + 11,
                     html_text(rail));
}

std::string svg(int height, std::string_view title, const std::string& content) {
  return fmt::format("<svg viewBox=\"0 0 {} {}\" width=\"100%\" role=\"img\"><title>{}</title>\n{}</svg>\n",
                     kLabel + kWide + 10, height, title, content);
}

// Where the problems are: rail by unit for a large fleet, then rail by host for each unit with more than
// info, or for all units of a small fleet. All NICs of a large fleet would be six megabytes, so only those
// with problems are drawn.
class HeatMap {
 public:
  explicit HeatMap(const Analysis& analysis) {
    for (const RailCell& rail : analysis.rails) {
      rails_.insert(rail.device);
      sizes_[rail.unit] = std::max(sizes_[rail.unit], rail.nics);
    }
    for (const Problem& problem : analysis.problems) add(problem);
  }

  std::string html() const {
    if (sizes_.size() <= kFewUnits) return hosts(false);
    const std::size_t healthy = sizes_.size() - faulty_.size();
    return overview() + hosts(true) +
           (healthy == 0 ? "" : fmt::format("<p>Nothing above info in {} units.</p>\n", healthy));
  }

 private:
  using Place = std::pair<std::string, std::string>;  // unit, rail
  struct Cell {
    Severity severity = Severity::info;
    std::string titles;

    void add(const Problem& problem) {
      severity = std::max(severity, problem.severity);
      titles += (titles.empty() ? "" : "; ") + problem.title;
    }
  };

  void add(const Problem& problem) {
    const Component& where = problem.component;
    const bool leaf = where.kind == "leaf" || where.kind == "uplinks";
    if (!sizes_.contains(where.unit) || (!leaf && where.instance.empty())) return;
    if (problem.severity != Severity::info) faulty_.insert(where.unit);
    for (const std::string& rail : rails_) {
      if (!where.device.empty() && where.device != rail) continue;
      places_[{where.unit, rail}].add(problem);
      if (leaf) leaves_[{where.unit, rail}].add(problem);
      if (!where.instance.empty()) cells_[{where.unit, rail}][where.instance].add(problem);
    }
  }

  // A cell for each unit and rail, 40 units in a line.
  std::string overview() const {
    constexpr int kStep = kCell + 2, kUnits = 40;
    const int lines = static_cast<int>(rails_.size());
    std::string out;
    int column = 0, top = 0;
    for (const auto& [unit, size] : sizes_) {
      if (column == kUnits) column = 0, top += (lines + 1) * kStep + 8;
      const int x = kLabel + column * kStep;
      if (column % 10 == 0)
        out += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", x, top + 11, html_text(unit));
      int y = top;
      for (const std::string& rail : rails_) {
        y += kStep;
        if (column == 0) out += rail_name(y, rail);
        const auto found = places_.find({unit, rail});
        const bool fine = found == places_.end();
        out += rect(
            x, y, kCell, fine ? kFine : colour(found->second.severity),
            fmt::format("{} {}: {}", unit, rail, fine ? fmt::format("{} NICs", size) : found->second.titles));
      }
      ++column;
    }
    return svg(top + (lines + 1) * kStep + 8, "Rails and units", out);
  }

  // A bar for each unit and rail.
  std::string hosts(bool only_faulty) const {
    std::string out;
    int y = 0;
    std::size_t shown = 0, left_out = 0;
    for (const auto& [unit, size] : sizes_) {
      if (only_faulty && !faulty_.contains(unit)) continue;
      if (shown == kMaxUnits) {
        ++left_out;
        continue;
      }
      ++shown;
      out += fmt::format("<text x=\"0\" y=\"{}\">{}</text>\n", y + 12,
                         html_text(unit.empty() ? "all hosts" : unit));
      for (const std::string& rail : rails_) {
        y += kCell + 2;
        out += rail_name(y, rail) + rect(kLabel, y, kWide, background(unit, rail),
                                         fmt::format("{} {}: {} NICs", unit, rail, size));
        out += cells(unit, rail, size, y);
      }
      y += kCell + 12;
    }
    if (shown == 0) return "";
    return svg(y, "Rails and hosts", out) +
           (left_out == 0 ? "" : fmt::format("<p>{} more units have problems.</p>\n", left_out));
  }

  std::string_view background(const std::string& unit, const std::string& rail) const {
    const auto leaf = leaves_.find({unit, rail});
    return leaf == leaves_.end()                         ? kFine
           : leaf->second.severity == Severity::critical ? "#f7b5b0"
                                                         : "#ffe9a8";
  }

  std::string cells(const std::string& unit, const std::string& rail, std::size_t size, int y) const {
    const auto found = cells_.find({unit, rail});
    if (found == cells_.end()) return "";
    std::string out;
    const int step = std::clamp(kWide / static_cast<int>(std::max<std::size_t>(size, 1)), 3, kCell);
    int x = kLabel;
    for (const auto& [instance, cell] : found->second) {
      if (x + step > kLabel + kWide) break;
      out += rect(x, y, step - 1, colour(cell.severity), host_part(instance) + ": " + cell.titles);
      x += step;
    }
    return out;
  }

  std::set<std::string, NaturalOrder> rails_;
  std::map<std::string, std::size_t, NaturalOrder> sizes_;  // number of hosts of a unit
  std::set<std::string> faulty_;                            // units with more than info
  std::map<Place, Cell> places_;
  std::map<Place, Cell> leaves_;
  std::map<Place, std::map<std::string, Cell>> cells_;  // by instance
};

// Roots on the left, paused hosts on the right; the thickness of lines is the share of time.
std::string pause_graph(const Analysis& analysis) {
  std::string out;
  for (const Problem& problem : analysis.problems) {
    std::vector<PauseEdge> edges;
    for (const PauseEdge& edge : analysis.pauses)
      if (edge.root == problem.id()) edges.push_back(edge);
    if (edges.empty()) continue;
    std::sort(edges.begin(), edges.end(), [](const auto& a, const auto& b) { return a.nics > b.nics; });
    edges.resize(std::min(edges.size(), kArrows));
    const int height = 22 * static_cast<int>(edges.size()) + 20;
    out += fmt::format("<h3>{}</h3>\n<svg viewBox=\"0 0 820 {}\" width=\"100%\" role=\"img\">\n",
                       html_text(problem.title), height);
    const std::string root = problem.component.instance.empty()
                                 ? "switches"
                                 : host_part(problem.component.instance) + " " + problem.component.device;
    out += fmt::format(
        "<rect x=\"0\" y=\"{0}\" width=\"200\" height=\"24\" fill=\"{1}\"/><text x=\"8\" "
        "y=\"{2}\">{3}</text>\n",
        height / 2 - 12, colour(problem.severity), height / 2 + 4, html_text(root));
    int y = 10;
    for (const PauseEdge& edge : edges) {
      out += fmt::format(
          "<line x1=\"200\" y1=\"{}\" x2=\"440\" y2=\"{}\" stroke=\"#888\" stroke-width=\"{:.1f}\"/>"
          "<text x=\"450\" y=\"{}\">{} ports of {} {}, paused {:.0f} % of the time</text>\n",
          height / 2, y + 8, 1 + 8 * std::min(1.0, edge.share), y + 12, edge.nics,
          html_text(edge.unit.empty() ? "all hosts" : edge.unit), html_text(edge.device), 100 * edge.share);
      y += 22;
    }
    out += "</svg>\n";
  }
  return out.empty() ? out : "<h2>Who pauses whom</h2>\n" + out;
}

std::string checks(const Analysis& analysis) {
  std::string out = "<h2>What was looked at</h2>\n<table><tr><th>What<th>State<th>Why</tr>\n";
  for (const Check& check : analysis.checks)
    out += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td></tr>\n", html_text(check.name),
                       html_text(check.state), html_text(check.why));
  out += "</table>\n";
  for (const std::string& line : analysis.unexplained)
    out += fmt::format("<p>Unexplained: {}</p>\n", html_text(line));
  for (const std::string& line : analysis.warnings)
    out += fmt::format("<p>The server warns: {}</p>\n", html_text(line));
  return out;
}

}  // namespace

std::string to_html(const Question& question, const Analysis& analysis) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>RDMA fleet</title>\n"
      "<style>{}</style></head>\n<body><h1>RDMA fleet</h1>\n"
      "<p>{} of {} hosts, {} NICs, {} probed paths at {}{}</p>\n{}<h2>Rails and "
      "hosts</h2>\n{}{}{}</body></html>\n",
      kStyle, analysis.hosts_seen, analysis.hosts_expected, analysis.nics, analysis.edges,
      html_text(question.at), analysis.partial ? ". Not everything could be examined." : "",
      problems(analysis), HeatMap(analysis).html(), pause_graph(analysis), checks(analysis));
}

}  // namespace rdma_exporter::fleet
