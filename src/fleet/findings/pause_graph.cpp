// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "fleet/findings/pause_graph.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "fleet/names.h"

namespace rdma_exporter::fleet {
namespace {

constexpr double kSends = 0.02;   // share of time that a port pauses others: its receiver is too slow
constexpr double kStorm = 0.1;    // the same, enough to stop a part of the fabric
constexpr double kPaused = 0.05;  // share of time that a port is paused
constexpr double kStalled = 0.05;
constexpr std::size_t kMany = 4;  // paused ports that form a pattern

// Share of the time that ports are paused ("rx") or pause others ("tx").
std::string paused(const PromQl& ql, std::string_view direction, const std::string& matchers) {
  return ql.rate(names::kPauseSeconds,
                 fmt::format("direction=\"{}\"{}{}", direction, matchers.empty() ? "" : ",", matchers));
}

Query paused_share(const PromQl& ql, const std::string& shard) {
  return {"paused_share",
          fmt::format("avg by ({}, device, priority) ({} > {})", ql.unit(), paused(ql, "rx", shard), kPaused),
          {ql.unit(), "device", "priority"}};
}

using PortKey = std::tuple<std::string, std::string, std::string>;  // instance, device, priority

std::map<PortKey, double> by_port(const std::vector<Row>& rows) {
  std::map<PortKey, double> all;
  for (const Row& row : rows) {
    double& value = all[{row.cells[0], row.cells[1], row.cells[2]}];
    value = std::max(value, row.value);  // functions that share a wire have the same counts
  }
  return all;
}

struct Victims {
  std::size_t nics = 0;
  double share = 0;
};

// Paused ports of a priority on a rail: rails are fabrics of their own. A name that one host alone has is no
// rail.
Victims victims_of(const Hosts& hosts, const Tables& tables, const std::string& device,
                   const std::string& priority, Analysis& out, const std::string& id) {
  Victims all;
  double sum = 0;
  const auto rail = hosts.rails().find(device);
  const bool is_rail = rail != hosts.rails().end() && rail->second > 1;
  for (const Row& row : tables.rows("paused")) {
    if (row.cells[2] != priority || (is_rail && row.cells[1] != device)) continue;
    const auto nics = static_cast<std::size_t>(row.value);
    double share = 0;
    for (const Row& other : tables.rows("paused_share"))
      if (other.cells == row.cells) share = other.value;
    out.pauses.push_back({id, row.cells[0], row.cells[1], priority, nics, share});
    all.nics += nics;
    sum += share * row.value;
  }
  if (all.nics > 0) all.share = sum / static_cast<double>(all.nics);
  return all;
}

std::string causes(const Tables& tables, const std::string& instance, const std::string& device,
                   Problem& problem) {
  for (const Row& row : tables.rows("pcie_stalled"))
    if (row.cells[0] == instance && row.cells[1] == device) {
      problem.evidence.push_back(
          {fmt::format("its PCIe requests stall {:.0f} % of the time", 100 * row.value), "pcie_stalled",
           row.value});
      return "look at its PCIe link, IOMMU and memory";
    }
  problem.excluded.emplace_back("PCIe: no stalls were counted");
  return "is its process stuck, are there many memory regions, is the CPU busy";
}

void report_sender(const Hosts& hosts, const Tables& tables, const PortKey& port, const std::string& netdev,
                   double sends, double waits, Analysis& out) {
  const auto& [instance, device, priority] = port;
  const bool root = waits < kSends;
  Problem problem;
  problem.kind = root ? "pfc_storm" : "pfc_backpressure";
  problem.component = {"nic", hosts.unit_of(instance), instance, device, "", netdev};
  problem.detail = "priority " + priority;
  const Victims victims = victims_of(hosts, tables, device, priority, out, problem.id());
  const bool storm = root && sends >= kStorm;
  problem.severity = storm ? Severity::critical : Severity::warning;
  problem.confidence = root ? (victims.nics > 0 ? 0.95 : 0.8) : 0.5;
  problem.title =
      fmt::format("{}{} of {} pauses priority {} of the fabric for {:.0f} % of the time", device,
                  netdev.empty() ? "" : " (" + netdev + ")", host_part(instance), priority, 100 * sends);
  problem.evidence.push_back(
      {fmt::format("it sends pause {:.1f} % of the time and is paused {:.1f} %", 100 * sends, 100 * waits),
       "pausing", sends});
  if (victims.nics > 0)
    problem.evidence.push_back(
        {fmt::format("{} port{} paused more than {:.0f} % of the time, {:.0f} % on average", victims.nics,
                     victims.nics == 1 ? " is" : "s are", 100 * kPaused, 100 * victims.share),
         "paused", static_cast<double>(victims.nics)});
  problem.blast = {{}, 1, 1 + victims.nics};
  const std::string look = causes(tables, instance, device, problem);
  problem.next = fmt::format("ssh {} rdma_exporter doctor: {}; take it out of service if this continues",
                             host_part(instance), look);
  if (!root)
    problem.excluded.emplace_back("not clear: a port that is itself paused may only pass the pause on");
  out.problems.push_back(std::move(problem));
}

using Rail = std::pair<std::string, std::string>;  // device, priority

// Many are paused and none of the rail's hosts pauses: switches do.
void report_fabric(const Hosts& hosts, const Tables& tables, const std::set<Rail>& with_senders,
                   Analysis& out) {
  std::map<Rail, std::map<std::string, std::size_t>> rails;
  for (const Row& row : tables.rows("paused"))
    rails[{row.cells[1], row.cells[2]}][row.cells[0]] += static_cast<std::size_t>(row.value);
  for (const auto& [rail, units] : rails) {
    std::size_t nics = 0;
    auto most = units.begin();
    for (auto unit = units.begin(); unit != units.end(); ++unit) {
      nics += unit->second;
      if (unit->second > most->second) most = unit;
    }
    if (nics < kMany || with_senders.contains(rail)) continue;
    Problem problem;
    problem.kind = "fabric_congestion";
    problem.severity = Severity::warning;
    problem.confidence = 0.7;
    problem.detail = "priority " + rail.second;
    problem.component = {"rail", "", "", rail.first};
    problem.title =
        fmt::format("{} ports of rail {} are paused on priority {} and none of its hosts sends pause", nics,
                    rail.first, rail.second);
    problem.blast = {{}, nics, nics};
    problem.evidence.push_back(
        {fmt::format("most of them: {} of {}", most->second, most->first.empty() ? "all hosts" : most->first),
         "paused", static_cast<double>(nics)});
    problem.excluded = {"a slow receiver: no port sends pause for 2 % of the time"};
    problem.next = "the switches' queues: incast, ECN threshold above XOFF, their pause watchdogs";
    out.problems.push_back(std::move(problem));
    const std::string id = out.problems.back().id();
    victims_of(hosts, tables, rail.first, rail.second, out, id);
  }
}

}  // namespace

void ask_pauses(const PromQl& ql, Plan& plan) {
  ql.add_sharded(plan, "pausing", {"instance", "device", "priority", "netdev"},
                 [&](const std::string& shard) {
                   return fmt::format("max by (instance, device, netdev, priority) ({} > {})",
                                      paused(ql, "tx", shard), kSends);
                 });
  ql.add_sharded(plan, "paused", {ql.unit(), "device", "priority"}, [&](const std::string& shard) {
    return fmt::format("count by ({}, device, priority) ({} > {})", ql.unit(), paused(ql, "rx", shard),
                       kPaused);
  });
}

void ask_recordable_pauses(const PromQl& ql, Plan& plan) {
  ask_pauses(ql, plan);
  plan.push_back(paused_share(ql, ""));
}

void ask_pause_details(const PromQl& ql, const Tables& tables, Plan& plan) {
  std::set<std::string> rails;
  for (const Row& row : tables.rows("paused")) rails.insert("device=" + in_quotes(row.cells[1]));
  for (const std::string& rail : rails) plan.push_back(paused_share(ql, rail));
  std::set<std::string> senders;
  for (const Row& row : tables.rows("pausing")) senders.insert(row.cells[0]);
  if (senders.empty()) return;
  const std::string of_them = one_of("instance", senders);
  plan.push_back({"waiting",
                  fmt::format("max by (instance, device, priority) ({})", paused(ql, "rx", of_them)),
                  {"instance", "device", "priority"}});
  plan.push_back(
      {"pcie_stalled",
       fmt::format("max by (instance, device) ({} > {})", ql.rate(names::kPcieStalled, of_them), kStalled),
       {"instance", "device"}});
}

void find_pauses(const Hosts& hosts, const Tables& tables, Analysis& out) {
  const auto pausing = by_port(tables.rows("pausing"));
  const auto waiting = by_port(tables.rows("waiting"));
  std::map<PortKey, std::string> netdevs;
  for (const Row& row : tables.rows("pausing"))
    netdevs.try_emplace({row.cells[0], row.cells[1], row.cells[2]}, row.cells[3]);
  for (const auto& [port, sends] : pausing) {
    const auto waits = waiting.find(port);
    report_sender(hosts, tables, port, netdevs[port], sends, waits == waiting.end() ? 0 : waits->second, out);
  }
  std::set<Rail> with_senders;
  for (const auto& [port, sends] : pausing) with_senders.insert({std::get<1>(port), std::get<2>(port)});
  report_fabric(hosts, tables, with_senders, out);
}

}  // namespace rdma_exporter::fleet
