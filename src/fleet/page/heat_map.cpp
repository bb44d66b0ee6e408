// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "fleet/page/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/text/escape.h"

namespace rdma_exporter::fleet {
namespace {

using core::html_text;

constexpr int kCell = 14;
constexpr int kStep = kCell + 2;
constexpr int kLabel = 110;
constexpr int kLetter = 7;
constexpr int kColumns = 40;            // hosts or units in a strip
constexpr int kMargin = 60;             // for the last name
constexpr std::size_t kLongName = 20;   // letters above a column
constexpr std::size_t kFewStrips = 12;  // of which all are drawn
constexpr std::size_t kMaxStrips = 40;  // that are drawn of those with problems

// "su2" before "su10".
struct NaturalOrder {
  bool operator()(const std::string& a, const std::string& b) const {
    const int order = ::strverscmp(a.c_str(), b.c_str());
    return order != 0 ? order < 0 : a < b;
  }
};

using Names = std::set<std::string, NaturalOrder>;
using Place = std::pair<std::string, std::string>;  // unit or host, and rail

// What is wrong at a place.
struct Cell {
  Severity severity = Severity::info;
  std::string titles;

  void add(const Problem& problem) {
    severity = std::max(severity, problem.severity);
    titles += (titles.empty() ? "" : "; ") + problem.title;
  }
};
using Cells = std::map<Place, Cell>;

const Cell* find(const Cells& cells, const std::string& owner, const std::string& rail) {
  const auto found = cells.find({owner, rail});
  return found == cells.end() ? nullptr : &found->second;
}

std::string text(int x, int y, const std::string& words, std::string_view attributes = "") {
  return fmt::format("<text x=\"{}\" y=\"{}\"{}>{}</text>", x, y, attributes, html_text(words));
}

std::string cell(int x, int y, std::string_view kind, const std::string& title) {
  return fmt::format("<rect x=\"{}\" y=\"{}\" class=\"{}\"><title>{}</title></rect>\n", x, y, kind,
                     html_text(title));
}

// `count` cells that all look the same, as the dashes of one line: half a million shapes would be too many.
std::string cells(int count, int y, std::string_view kind, const std::string& title) {
  return fmt::format("<path d=\"M{} {}h{}\" class=\"{}\"><title>{}</title></path>\n", kLabel, y + kCell / 2,
                     count * kStep, kind, html_text(title));
}

std::string slanted(int x, int y, std::string name) {
  if (name.size() > kLongName) name = name.substr(0, kLongName) + "...";
  return fmt::format("<text transform=\"translate({},{})rotate(-60)\">{}</text>\n", x, y, html_text(name));
}

// Hosts of one unit, as many as fit side by side.
struct Strip {
  std::string unit;
  std::vector<std::string> hosts;  // instances
};

class HeatMap {
 public:
  explicit HeatMap(const Analysis& analysis) : rails_(analysis.rails.begin(), analysis.rails.end()) {
    for (const HostCell& host : analysis.hosts) {
      units_[host.unit].insert(host.instance);
      instances_[host_part(host.instance)] = host.instance;
      unit_of_[host.instance] = host.unit;
    }
    for (const Problem& problem : analysis.problems) add(problem);
  }

  std::string html() const {
    const std::vector<Strip> all = strips();
    const bool large = all.size() > kFewStrips;
    const std::string units = large && units_.size() > 1 ? overview() : "";
    std::string out;
    std::size_t fine = 0, shown = 0, left_out = 0;
    for (const Strip& strip : all) {
      if (large && !is_faulty(strip)) {
        fine += strip.hosts.size();
      } else if (shown == kMaxStrips) {
        left_out += strip.hosts.size();
      } else {
        ++shown;
        out += drawn(strip);
      }
    }
    if (!units.empty()) out = "<h3>Units</h3>\n" + units + (shown > 0 ? "<h3>Hosts</h3>\n" : "") + out;
    if (left_out > 0)
      out += fmt::format("<p>Not drawn: {} hosts more, of which some have problems.</p>\n", left_out);
    if (fine > 0) out += fmt::format("<p>Not drawn: {} hosts in rows with nothing above info.</p>\n", fine);
    return out;
  }

 private:
  void add(const Problem& problem) {
    const Component& where = problem.component;
    if (where.kind == "leaf" || where.kind == "uplinks") {
      for (const std::string& rail : rails_of(where.device)) leaves_[{where.unit, rail}].add(problem);
      add_unit(problem, where.unit, where.device);
    } else if (!where.instance.empty()) {
      add_host(problem, where.instance, where.device);
    } else if (problem.severity != Severity::info) {
      for (const std::string& member : problem.members) add_member(problem, member);
    }
  }

  // "gpu-17" or "gpu-17 mlx5_3".
  void add_member(const Problem& problem, const std::string& member) {
    const std::size_t space = member.find(' ');
    const auto host = instances_.find(member.substr(0, space));
    if (host != instances_.end())
      add_host(problem, host->second, space == std::string::npos ? "" : member.substr(space + 1));
  }

  void add_host(const Problem& problem, const std::string& instance, const std::string& device) {
    const auto unit = unit_of_.find(instance);
    if (unit == unit_of_.end()) return;
    for (const std::string& rail : rails_of(device)) hosts_[{instance, rail}].add(problem);
    named_.insert(instance);
    if (problem.severity != Severity::info) faulty_.insert(instance);
    add_unit(problem, unit->second, device);
  }

  void add_unit(const Problem& problem, const std::string& unit, const std::string& device) {
    for (const std::string& rail : rails_of(device)) overview_[{unit, rail}].add(problem);
  }

  // All if the problem is not about one.
  Names rails_of(const std::string& device) const { return device.empty() ? rails_ : Names{device}; }

  std::vector<Strip> strips() const {
    std::vector<Strip> all;
    for (const auto& [unit, hosts] : units_)
      for (const std::string& host : hosts) {
        if (all.empty() || all.back().unit != unit || all.back().hosts.size() == kColumns)
          all.push_back({unit, {}});
        all.back().hosts.push_back(host);
      }
    return all;
  }

  bool is_faulty(const Strip& strip) const {
    const auto on_leaf = [&](const std::string& rail) {
      const Cell* leaf = find(leaves_, strip.unit, rail);
      return leaf != nullptr && leaf->severity != Severity::info;
    };
    return std::any_of(rails_.begin(), rails_.end(), on_leaf) ||
           std::any_of(strip.hosts.begin(), strip.hosts.end(),
                       [&](const std::string& host) { return faulty_.contains(host); });
  }

  // Above the columns, the names of the hosts with problems.
  std::string drawn(const Strip& strip) const {
    std::size_t longest = 0;
    for (const std::string& host : strip.hosts)
      if (named_.contains(host)) longest = std::max(longest, std::min(host_part(host).size(), kLongName + 3));
    const int top = std::max(kStep, static_cast<int>(longest) * kLetter * 9 / 10 + 6);
    const int count = static_cast<int>(strip.hosts.size());
    std::string out =
        text(0, top - 4, strip.unit.empty() ? units_.size() == 1 ? "all hosts" : "no unit" : strip.unit,
             " class=\"name\"");
    int x = kLabel;
    for (const std::string& host : strip.hosts) {
      if (named_.contains(host)) out += slanted(x + kCell - 3, top - 4, host_part(host));
      x += kStep;
    }
    int y = top;
    for (const std::string& rail : rails_) {
      out += row(strip, rail, count, y);
      y += kStep;
    }
    const std::string range = host_part(strip.hosts.front()) + " to " + host_part(strip.hosts.back());
    return picture(kLabel + count * kStep + kMargin, y + 6, range, out);
  }

  std::string row(const Strip& strip, const std::string& rail, int count, int y) const {
    const Cell* leaf = find(leaves_, strip.unit, rail);
    std::string out = text(kLabel - 8, y + 11, rail, " text-anchor=\"end\"");
    out += leaf == nullptr ? cells(count, y, "ok", fmt::format("{} hosts, {}", count, rail))
                           : cells(count, y, fmt::format("{} leaf", to_string(leaf->severity)), leaf->titles);
    int x = kLabel;
    for (const std::string& host : strip.hosts) {
      const Cell* here = find(hosts_, host, rail);
      if (here != nullptr)
        out += cell(x, y, to_string(here->severity), host_part(host) + " " + rail + ": " + here->titles);
      x += kStep;
    }
    return out;
  }

  // Rail by unit.
  std::string overview() const {
    std::vector<std::string> line;
    std::string out;
    for (const auto& [unit, hosts] : units_) {
      line.push_back(unit);
      if (line.size() == kColumns) out += overview(std::exchange(line, {}));
    }
    return line.empty() ? out : out + overview(line);
  }

  std::string overview(const std::vector<std::string>& units) const {
    std::string out;
    const int count = static_cast<int>(units.size());
    for (std::size_t i = 0; i < units.size(); i += 10)
      out += text(kLabel + static_cast<int>(i) * kStep, 11, units[i].empty() ? "no unit" : units[i]);
    int y = kStep;
    for (const std::string& rail : rails_) {
      out += text(kLabel - 8, y + 11, rail, " text-anchor=\"end\"") +
             cells(count, y, "ok", fmt::format("{} units, {}", count, rail));
      int x = kLabel;
      for (const std::string& unit : units) {
        const Cell* here = find(overview_, unit, rail);
        if (here != nullptr)
          out += cell(x, y, to_string(here->severity), unit + " " + rail + ": " + here->titles);
        x += kStep;
      }
      y += kStep;
    }
    return picture(kLabel + count * kStep + kMargin, y + 6, units.front() + " to " + units.back(), out);
  }

  Names rails_;
  std::map<std::string, Names, NaturalOrder> units_;  // instances
  std::map<std::string, std::string> instances_;      // by host part
  std::map<std::string, std::string> unit_of_;        // by instance
  Cells overview_;                                    // by unit
  Cells leaves_;                                      // by unit
  Cells hosts_;                                       // by instance
  std::set<std::string> named_;                       // instances with a problem of their own
  std::set<std::string> faulty_;                      // those of them with more than info
};

}  // namespace

std::string picture(int width, int height, std::string_view title, const std::string& content) {
  return fmt::format(
      "<div class=\"x\"><svg viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "role=\"img\"><title>{2}</title>\n{3}</svg></div>\n",
      width, height, html_text(title), content);
}

std::string heat_map(const Analysis& analysis) { return HeatMap(analysis).html(); }

}  // namespace rdma_exporter::fleet
