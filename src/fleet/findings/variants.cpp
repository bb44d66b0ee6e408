// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "fleet/findings/variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>
#include <tuple>

#include "fleet/names.h"

namespace rdma_exporter::fleet {
namespace {

constexpr double kRare = 0.1;         // if at most this share of a model differs, it is not a rollout
constexpr double kCommon = 0.8;       // share of the others that must agree
constexpr double kEnoughMembers = 8;  // members that are enough for a comparison
constexpr std::size_t kListed = 200;

// A property that members of a kind should have in common.
struct Property {
  std::string_view kind;
  std::string_view what;
  std::string (*values)(const PromQl&, std::string_view matchers);  // the series
  std::string_view label;  // whose value counts; empty: the series' own
  bool by_model;           // false: all hosts are alike
  // What all ports have alike where nothing differs, from fewer series than `values`; nullptr: `values`.
  std::string (*first)(const PromQl&) = nullptr;
  bool by_priority = false;  // `first` counts the ports for which a priority is on
};

std::string joined(std::string_view a, std::string_view b) {
  return fmt::format("{}{}{}", a, a.empty() || b.empty() ? "" : ",", b);
}

std::string physical(const PromQl& ql, std::string_view matchers) {
  return ql.series(names::kDeviceInfo, joined(R"(is_vf!="1")", matchers));
}
std::string mtu(const PromQl& ql, std::string_view matchers) {
  return fmt::format("({} and on (job, instance, device, port) {} == 1)", ql.series(names::kMtu, matchers),
                     ql.series(names::kPortUp, matchers));
}
std::string any_mtu(const PromQl& ql) { return ql.series(names::kMtu); }  // of ports that are down, too
std::string rate(const PromQl& ql, std::string_view matchers) { return ql.series(names::kRate, matchers); }
std::string pcie(const PromQl& ql, std::string_view matchers) {
  return fmt::format("({} * {})", ql.series(names::kPcieSpeed, matchers),
                     ql.series(names::kPcieWidth, matchers));
}
std::string gids(const PromQl& ql, std::string_view matchers) {
  return ql.series(names::kGids, joined(R"(type="RoCE v2")", matchers));
}
// A set of priorities as one number. A priority that is off may have no series (the lean set), so that the
// interfaces themselves are added with 0.
std::string mask(const PromQl& ql, std::string_view metric, std::string_view matchers,
                 std::string_view devices) {
  std::string all;
  for (unsigned priority = 0; priority < 8; ++priority)
    all += fmt::format("{} * {} or ",
                       ql.series(metric, joined(fmt::format("priority=\"{}\"", priority), matchers)),
                       1U << priority);
  return fmt::format("sum by (job, instance, device, port, netdev) ({}{} * 0)", all,
                     ql.series(names::kTrust, devices));
}
std::string pfc(const PromQl& ql, std::string_view matchers) {
  return mask(ql, names::kPfcEnabled, matchers, matchers);
}
std::string pfc_ports(const PromQl& ql) { return ql.series(names::kPfcEnabled); }
constexpr std::string_view kNotifies = R"(role="np")";
std::string ecn(const PromQl& ql, std::string_view matchers) {
  return fmt::format("({} and on (job, instance, device, port) {})",
                     mask(ql, names::kEcnEnabled, joined(kNotifies, matchers), matchers),
                     ql.series(names::kEcnEnabled, matchers));
}
std::string ecn_ports(const PromQl& ql) { return ql.series(names::kEcnEnabled, kNotifies); }
std::string trust(const PromQl& ql, std::string_view matchers) { return ql.series(names::kTrust, matchers); }
std::string builds(const PromQl& ql, std::string_view matchers) {
  return ql.series(names::kBuildInfo, matchers);
}

constexpr std::array kProperties{
    Property{"firmware_differs", "firmware", physical, "fw_version", true},
    Property{"mtu_differs", "RDMA MTU", mtu, "", true, any_mtu},
    Property{"rate_differs", "link rate", rate, "", true},
    Property{"pcie_differs", "PCIe link", pcie, "", true},
    Property{"gids_differ", "number of RoCE v2 GIDs", gids, "", true},
    Property{"pfc_differs", "PFC", pfc, "", true, pfc_ports, true},
    Property{"trust_differs", "trust", trust, "trust", true},
    Property{"ecn_differs", "ECN", ecn, "", true, ecn_ports, true},
    Property{"exporter_differs", "exporter version", builds, "version", false},
};

std::string table_of(const Property& property, std::string_view step) {
  return fmt::format("{} {}", step, property.kind);
}

// The columns of the group, then the value.
std::vector<std::string> columns_of(const Property& property, std::vector<std::string> by) {
  by.emplace_back(property.label.empty() ? "value" : property.label);
  return by;
}

std::string count_of(const Property& property, const std::vector<std::string>& columns,
                     const std::string& series) {
  std::string by;
  for (const std::string& column : columns)
    if (column != "value") by += (by.empty() ? "" : ", ") + column;
  return property.label.empty() ? fmt::format("count_values by ({}) (\"value\", {})", by, series)
                                : fmt::format("count by ({}) ({})", by, series);
}

const std::vector<std::string> kModel{"board_id", "driver"};

// The series with the model of their adapter, restricted to `model` if it is given.
std::string with_model(const Property& property, const PromQl& ql, const std::string& series,
                       std::string_view model = {}) {
  if (!property.by_model) return series;
  const std::string info = physical(ql, model);
  if (property.values == physical) return fmt::format("({} and {})", series, info);  // has it already
  return fmt::format("{} * on (job, instance, device) group_left (board_id, driver) {}", series, info);
}

Query models(const Property& property, const PromQl& ql) {
  const auto columns = columns_of(property, property.by_model ? kModel : std::vector<std::string>{});
  return {table_of(property, "models"),
          count_of(property, columns, with_model(property, ql, property.values(ql, {}))), columns};
}

// Rows of "models KIND" that differ only in the value: a group of comparable members.
using Groups = std::map<std::vector<std::string>, std::vector<Row>>;

Groups groups_of(const std::vector<Row>& rows) {
  Groups groups;
  for (const Row& row : rows) groups[{row.cells.begin(), row.cells.end() - 1}].push_back(row);
  return groups;
}

struct Shares {
  double total = 0;
  Row common;
  std::vector<Row> rare;
  std::vector<Row> others;  // too many to be an accident
};

Shares shares_of(const std::vector<Row>& rows) {
  Shares shares;
  for (const Row& row : rows) {
    shares.total += row.value;
    if (row.value > shares.common.value) shares.common = row;
  }
  const bool clear = shares.total >= kEnoughMembers && shares.common.value >= kCommon * shares.total;
  for (const Row& row : rows)
    if (row.cells != shares.common.cells)
      (clear && row.value < kRare * shares.total ? shares.rare : shares.others).push_back(row);
  return shares;
}

// Devices whose ports are not all alike.
std::set<std::string> devices_that_differ(const Property& property, const Tables& tables) {
  std::set<std::string> devices;
  const auto& rows = tables.rows(table_of(property, "values"));
  if (!property.by_priority) {
    for (const auto& [group, values] : groups_of(rows))
      if (values.size() > 1) devices.insert(group.empty() ? "" : group.front());
    return devices;
  }
  std::map<std::string, double> ports;
  for (const Row& row : tables.rows("values trust_differs")) ports[row.cells[0]] += row.value;
  for (const Row& row : rows)
    if (row.value > 0 && row.value != ports[row.cells[0]]) devices.insert(row.cells[0]);
  return devices;
}

// Devices of which some have the value, so that no other is asked for its members.
std::string devices_with(const Property& property, const Tables& tables, const std::string& value) {
  if (!property.by_model) return "";
  if (property.by_priority) return one_of("device", devices_that_differ(property, tables));
  std::set<std::string> devices;
  for (const Row& row : tables.rows(table_of(property, "values")))
    if (row.cells.back() == value) devices.insert(row.cells.front());
  return one_of("device", devices);
}

std::string priorities(unsigned mask) {
  std::string text;
  for (unsigned priority = 0; priority < 8; ++priority)
    if ((mask >> priority & 1U) != 0)
      text += fmt::format("{}{}", text.empty() ? "on priority " : ", ", priority);
  return text.empty() ? "off" : text;
}

std::string shown(const Property& property, const std::string& value) {
  double number = 0;
  if (std::from_chars(value.data(), value.data() + value.size(), number).ec != std::errc()) return value;
  if (property.kind == "rate_differs") return fmt::format("{:.0f} Gb/s", number * 8 / 1e9);
  if (property.kind == "pcie_differs") return fmt::format("{:.0f} GT/s over all lanes", number / 1e9);
  if (property.kind == "pfc_differs" || property.kind == "ecn_differs")
    return priorities(static_cast<unsigned>(number));
  return value;
}

// What the others have: "4096", "it on priority 3".
std::string possessed(const Property& property, const std::string& value) {
  return (property.kind == "pfc_differs" || property.kind == "ecn_differs" ? "it " : "") +
         shown(property, value);
}

std::string members_table(const Property& property, const Row& row) {
  return fmt::format("members {} {}", property.kind, fmt::join(row.cells, " "));
}

std::string members_expression(const Property& property, const PromQl& ql, const Row& row,
                               const std::string& devices) {
  const std::string value = row.cells.back();
  const std::string labelled = fmt::format("{}={}", property.label, in_quotes(value));
  const std::string series = property.label.empty()
                                 ? fmt::format("({} == {})", property.values(ql, devices), value)
                                 : property.values(ql, joined(labelled, devices));
  if (!property.by_model) return series;
  return with_model(
      property, ql, series,
      joined(fmt::format("board_id={},driver={}", in_quotes(row.cells[0]), in_quotes(row.cells[1])),
             devices));
}

// Adds the members, their places, and what they have in common.
void add_members(const Hosts& hosts, const std::vector<Row>& members, Problem& problem) {
  std::set<std::string> units;
  std::set<std::string> instances;
  std::set<std::string> names;
  for (const Row& member : members) {
    const auto& [instance, device, port] = std::tie(member.cells[0], member.cells[1], member.cells[2]);
    names.insert(host_part(instance) + (device.empty() ? "" : " " + device));
    instances.insert(instance);
    units.insert(hosts.unit_of(instance));
    problem.component = {device.empty() ? "host" : "nic", hosts.unit_of(instance), instance, device, port};
  }
  for (const std::string& name : names)
    if (problem.members.size() < kListed) problem.members.push_back(name);
  if (instances.size() == 1 && names.size() > 1)
    problem.component = {"host", problem.component.unit, problem.component.instance};
  if (instances.size() != 1)
    problem.component = {units.size() == 1 ? "unit" : "fleet", units.size() == 1 ? *units.begin() : ""};
  problem.blast.hosts = instances.size();
}

std::string place_of(const Problem& problem) {
  const Component& where = problem.component;
  if (where.kind == "nic" || where.kind == "host")
    return problem.members.size() == 1 ? problem.members.front() : host_part(where.instance);
  return fmt::format("{} hosts{}", problem.blast.hosts, where.unit.empty() ? "" : " of " + where.unit);
}

void report_rare(const Property& property, const Hosts& hosts, const Tables& tables, const Shares& shares,
                 const Row& row, Analysis& out) {
  Problem problem;
  problem.kind = property.kind;
  problem.severity = Severity::warning;
  problem.confidence = shares.common.value / shares.total;
  add_members(hosts, tables.rows(members_table(property, row)), problem);
  problem.detail = row.cells.back();
  problem.blast.nics = static_cast<std::size_t>(row.value);
  const std::string common = possessed(property, shares.common.cells.back());
  problem.title = fmt::format("{} {}: {}; the others have {}", property.what,
                              shown(property, row.cells.back()), place_of(problem), common);
  problem.evidence.push_back(
      {fmt::format("{:.0f} of {:.0f} that can be compared ({}) have {}", shares.common.value, shares.total,
                   property.by_model ? row.cells[0] + " " + row.cells[1] : "all hosts", common),
       table_of(property, "models"), row.value});
  problem.next = problem.component.instance.empty()
                     ? "configuration management: what do these hosts have in common"
                     : fmt::format("ssh {} rdma_exporter doctor", host_part(problem.component.instance));
  out.problems.push_back(std::move(problem));
}

void report_split(const Property& property, const Shares& shares, Analysis& out) {
  if (shares.total < kEnoughMembers) return;
  Problem problem;
  problem.kind = property.kind;
  problem.confidence = 0.5;
  problem.component = {"fleet"};
  problem.detail = "split";
  std::string text;
  std::vector<Row> rows = shares.others;
  rows.push_back(shares.common);
  for (const Row& row : rows)
    text += fmt::format("{}{:.0f} % {}", text.empty() ? "" : ", ", 100 * row.value / shares.total,
                        shown(property, row.cells.back()));
  problem.title = fmt::format("{} is split: {}", property.what, text);
  problem.evidence.push_back(
      {"no value is common enough to call the others wrong: a rollout, or two kinds of hosts",
       table_of(property, "models"), 0});
  problem.next = "nothing, if somebody is changing it";
  out.problems.push_back(std::move(problem));
}

}  // namespace

void ask_values(const PromQl& ql, Plan& plan) {
  for (const Property& property : kProperties) {
    const std::string table = table_of(property, "values");
    if (property.by_priority) {
      plan.push_back(
          {table, fmt::format("sum by (device, priority) ({})", property.first(ql)), {"device", "priority"}});
      continue;
    }
    const auto columns = columns_of(
        property, property.by_model ? std::vector<std::string>{"device"} : std::vector<std::string>{});
    const std::string series = property.first == nullptr ? property.values(ql, {}) : property.first(ql);
    plan.push_back({table, count_of(property, columns, series), columns});
  }
}

void ask_recordable_values(const PromQl& ql, Plan& plan) {
  ask_values(ql, plan);
  for (const Property& property : kProperties) plan.push_back(models(property, ql));
}

void ask_models(const PromQl& ql, const Tables& tables, Plan& plan) {
  for (const Property& property : kProperties)
    if (!devices_that_differ(property, tables).empty()) plan.push_back(models(property, ql));
}

void ask_members(const PromQl& ql, const Tables& tables, Plan& plan) {
  for (const Property& property : kProperties)
    for (const auto& [group, rows] : groups_of(tables.rows(table_of(property, "models"))))
      for (const Row& row : shares_of(rows).rare)
        plan.push_back(
            {members_table(property, row),
             members_expression(property, ql, row, devices_with(property, tables, row.cells.back())),
             {"instance", "device", "port"}});
}

void find_variants(const Hosts& hosts, const Tables& tables, Analysis& out) {
  for (const Property& property : kProperties)
    for (const auto& [group, rows] : groups_of(tables.rows(table_of(property, "models")))) {
      const Shares shares = shares_of(rows);
      for (const Row& row : shares.rare) report_rare(property, hosts, tables, shares, row, out);
      if (!shares.others.empty()) report_split(property, shares, out);
    }
}

}  // namespace rdma_exporter::fleet
