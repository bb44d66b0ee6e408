// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "fleet/analysis.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "fleet/findings/pause_graph.h"
#include "fleet/findings/probe_paths.h"
#include "fleet/findings/signs.h"
#include "fleet/findings/variants.h"
#include "fleet/names.h"
#include "fleet/promql.h"
#include "fleet/recorded.h"

namespace rdma_exporter::fleet {
namespace {

constexpr double kEnoughSeen = 0.95;   // of the exporters
constexpr std::size_t kManyDown = 20;  // hosts that get a problem each
constexpr std::size_t kMaxOwners = 50;

void run(const Ask& ask, const Recorded& recorded, const Plan& wanted, Tables& tables) {
  const Plan plan = recorded.use(wanted);
  if (plan.empty()) return;
  std::vector<Answer> answers = ask(plan);
  for (std::size_t i = 0; i < plan.size(); ++i) tables.add(plan[i], std::move(answers[i]));
  recorded.clean(tables, plan);
}

void ask_rails(const PromQl& ql, Plan& plan) {
  plan.push_back({"rails",
                  fmt::format("count by (device) ({})", ql.series(names::kDeviceInfo, R"(is_vf!="1")")),
                  {"device"}});
}

void ask_hosts(const PromQl& ql, Plan& plan) {
  const std::vector<std::string> columns{"instance", ql.unit(), "job"};
  const std::string by = fmt::format("max by (instance, {}, job)", ql.unit());
  const std::string jobs = fmt::format("group by (job) ({})", ql.series(names::kDevices));
  plan.push_back({"hosts", fmt::format("{} ({})", by, ql.series(names::kDevices)), columns});
  plan.push_back({"down", fmt::format("{} ({} == 0 and on (job) {})", by, ql.series("up"), jobs), columns});
  ask_rails(ql, plan);
}

// Hosts with fewer devices than most hosts of their job.
void find_missing(const Hosts& hosts, Analysis& out) {
  std::map<std::string, std::map<std::size_t, std::size_t>> counts;
  for (const Host& host : hosts.all())
    if (host.up) ++counts[host.job][host.devices];
  for (const Host& host : hosts.all()) {
    const auto& sizes = counts[host.job];
    if (!host.up || sizes.empty()) continue;
    std::size_t total = 0;
    auto common = sizes.begin();
    for (auto it = sizes.begin(); it != sizes.end(); ++it) {
      total += it->second;
      if (it->second > common->second) common = it;
    }
    if (host.devices >= common->first || total < 8 || common->second * 10 < total * 8) continue;
    Problem problem;
    problem.kind = "nics_missing";
    problem.severity = Severity::warning;
    problem.confidence = static_cast<double>(common->second) / static_cast<double>(total);
    problem.component = {"host", host.unit, host.instance};
    problem.title =
        fmt::format("{} has {} of {} RDMA devices", host_part(host.instance), host.devices, common->first);
    problem.blast = {{}, 1, common->first - host.devices};
    problem.evidence.push_back({fmt::format("{} of {} hosts have {}", common->second, total, common->first),
                                "hosts", static_cast<double>(host.devices)});
    problem.next =
        fmt::format("ssh {} lspci; dmesg: did a device fall off the bus", host_part(host.instance));
    out.problems.push_back(std::move(problem));
  }
}

// How many paths to a host that does not answer fail, or get no answer to their control connection. If only
// the exporter were down, the host's kernel would refuse that connection.
std::pair<std::size_t, std::size_t> probes_of(const std::string& instance, const Hosts& hosts,
                                              const Tables& tables) {
  std::pair<std::size_t, std::size_t> counts;
  std::set<std::vector<std::string>> dead;
  for (const char* table : {"failing_paths", "blocked_paths"})
    for (const Row& row : tables.rows(table)) {
      const Host* target = hosts.by_target(row.cells[3]);
      if (target == nullptr || target->instance != instance) continue;
      const bool refused = row.cells.size() > 4 && row.cells[4] == "ECONNREFUSED";
      if (!refused) dead.insert({row.cells.begin(), row.cells.begin() + 4});
    }
  counts.first = dead.size();
  for (const Row& row : tables.rows("paths")) {
    const Host* target = hosts.by_target(row.cells[2]);
    if (target != nullptr && target->instance == instance) ++counts.second;
  }
  return counts;
}

Problem silent_host(const Host& host, std::size_t failing, bool dead, const Hosts& hosts,
                    const Tables& tables) {
  Problem problem;
  problem.kind = dead ? "host_down" : "exporter_down";
  problem.severity = dead ? Severity::critical : Severity::warning;
  problem.confidence = dead ? 0.95 : 0.7;
  problem.component = {"host", host.unit, host.instance};
  problem.title = dead ? fmt::format("{} is down: its exporter does not answer, nor do its NICs",
                                     host_part(host.instance))
                       : fmt::format("the exporter of {} does not answer", host_part(host.instance));
  problem.blast = {{}, 1, dead ? hosts.rails().size() : 0};
  problem.evidence.push_back({"up is 0", "down", 0});
  if (dead)
    problem.evidence.push_back(
        {fmt::format("{} paths to it are dead", failing), "failing_paths", static_cast<double>(failing)});
  else if (!tables.rows("path_count").empty())
    problem.excluded.emplace_back("the host's NICs: probes of them do not fail");
  problem.next = fmt::format("ssh {} systemctl status rdma_exporter", host_part(host.instance));
  return problem;
}

Problem silent_hosts(std::vector<std::string> members) {
  Problem all;
  all.members = std::move(members);
  all.kind = "exporter_down";
  all.severity = Severity::warning;
  all.confidence = 0.7;
  all.component = {"fleet"};
  all.blast = {{}, all.members.size(), 0};
  all.title = fmt::format("{} exporters do not answer", all.members.size());
  all.evidence.push_back({"up is 0", "down", static_cast<double>(all.members.size())});
  all.next = "what do these hosts have in common: a switch of the management network, a rollout";
  return all;
}

void find_silent(const Hosts& hosts, const Tables& tables, Analysis& out) {
  std::vector<const Host*> silent;
  for (const Host& host : hosts.all())
    if (!host.up) silent.push_back(&host);
  const bool many = silent.size() > kManyDown;
  std::vector<std::string> together;
  for (const Host* host : silent) {
    const auto [failing, probes] = probes_of(host->instance, hosts, tables);
    const bool dead = failing > 0 && 2 * failing >= probes;
    if (many && !dead)
      together.push_back(host_part(host->instance));
    else
      out.problems.push_back(silent_host(*host, failing, dead, hosts, tables));
  }
  if (!together.empty()) out.problems.push_back(silent_hosts(std::move(together)));
}

void ask_owners(const PromQl& ql, const Problems& problems, Plan& plan) {
  std::vector<std::string> instances;
  for (const Problem& problem : problems)
    if (!problem.component.instance.empty() && problem.severity != Severity::info &&
        instances.size() < kMaxOwners)
      instances.push_back(problem.component.instance);
  if (instances.empty()) return;
  plan.push_back(
      {"owners",
       fmt::format("topk(200, sum by (instance, owner) ({}))",
                   ql.series(names::kOwnerQps, fmt::format("owner_kind=~\"slurm_job|pod\",instance=~{}",
                                                           in_quotes(any_of(instances))))),
       {"instance", "owner"}});
}

void add_owners(const Tables& tables, Problems& problems) {
  for (Problem& problem : problems)
    for (const Row& row : tables.rows("owners"))
      if (row.cells[0] == problem.component.instance) problem.blast.jobs.push_back(row.cells[1]);
}

struct Look {
  std::string_view name;
  std::string_view metric;
  std::vector<std::string> tables;
  std::string_view data;  // a table that has rows if the data exist; empty: always done
};

void say_what_was_looked_at(const Tables& tables, Analysis& out) {
  const std::vector<Look> looks{
      {"hosts that do not answer", "up", {"hosts", "down"}, ""},
      {"missing devices", names::kDevices, {"hosts", "rails"}, ""},
      {"probed paths",
       names::kAttempts,
       {"failing_paths", "lossy_paths", "blocked_paths", "paths", "path_count", "leaf_count", "target_leaves",
        "sent_to_blocked"},
       "path_count"},
      {"pauses",
       names::kPauseSeconds,
       {"pausing", "waiting", "paused", "paused_share"},
       "values pfc_differs"},
      {"settings and hardware",
       names::kDeviceInfo,
       {"values firmware_differs", "values mtu_differs", "values rate_differs", "values pcie_differs",
        "values gids_differ", "values pfc_differs", "values trust_differs", "values exporter_differs"},
       "values firmware_differs"},
      {"links, stragglers, resources", "counters", sign_tables(), "rails"},
  };
  for (const Look& look : looks) {
    Check check{std::string(look.name), "done"};
    for (const std::string& table : look.tables)
      if (const std::string problem = tables.problem(table); !problem.empty() && problem != "not queried")
        check = {std::string(look.name), "incomplete", problem};
    if (check.state == "done" && !look.data.empty() && tables.rows(look.data).empty())
      check = {std::string(look.name), "no data", fmt::format("the server has no {}", look.metric)};
    out.partial = out.partial || check.state == "incomplete";
    out.checks.push_back(std::move(check));
  }
  if (!out.units_known)
    out.checks.push_back({"leaves and uplinks", "no data",
                          "no host has the label that identifies its leaves, and no target of the "
                          "probe a leaf from discovery"});
}

void sort(Problems& problems) {
  std::stable_sort(problems.begin(), problems.end(), [](const Problem& a, const Problem& b) {
    if (a.severity != b.severity) return a.severity > b.severity;
    if (a.blast.jobs.size() != b.blast.jobs.size()) return a.blast.jobs.size() > b.blast.jobs.size();
    if (a.blast.hosts != b.blast.hosts) return a.blast.hosts > b.blast.hosts;
    return a.blast.nics > b.blast.nics;
  });
}

void add_cells(const Hosts& hosts, Analysis& out) {
  for (const auto& [device, nics] : hosts.rails()) out.rails.push_back(device);
  for (const Host& host : hosts.all()) out.hosts.push_back({host.unit, host.instance});
}

Recorded find_recorded(const Options& options, Tables& tables, const Ask& ask) {
  if (options.window.count() != 0) return {};
  run(ask, {}, {Recorded::question()}, tables);
  return {recordable(options), tables.rows("rules")};
}

// Each plan asks for more about what the answers to the one before show.
void run_plans(const PromQl& ql, const Hosts& hosts, const Recorded& recorded, Tables& tables,
               const Ask& ask) {
  Plan second;
  ask_bad_paths(ql, second);
  if (!hosts.all_units_known()) ask_leaf_count(ql, second);
  ask_pauses(ql, second);
  ask_signs(ql, second);
  ask_values(ql, second);
  run(ask, recorded, second, tables);
  Plan third;
  ask_paths(ql, tables, third);
  ask_pause_details(ql, tables, third);
  ask_models(ql, tables, third);
  ask_rare_signs(ql, tables, third);
  run(ask, recorded, third, tables);
  keep_bad_paths(tables);
  Plan fourth;
  ask_members(ql, tables, fourth);
  run(ask, recorded, fourth, tables);
}

void find_problems(const Hosts& hosts, const Tables& tables, Analysis& out) {
  find_silent(hosts, tables, out);
  find_bad_paths(hosts, tables, out);
  find_pauses(hosts, tables, out);
  find_missing(hosts, out);
  find_variants(hosts, tables, out);
  find_signs(hosts, tables, out);
}

}  // namespace

Plan recordable(const Options& options) {
  const PromQl ql(options);
  Plan plan;
  ask_rails(ql, plan);
  ask_bad_paths(ql, plan);
  ask_leaf_count(ql, plan);
  ask_recordable_pauses(ql, plan);
  ask_recordable_signs(ql, plan);
  ask_recordable_values(ql, plan);
  return plan;
}

Analysis analyse(const Options& options, const Ask& ask) {
  Tables tables;
  PromQl ql(options);
  const Recorded recorded = find_recorded(options, tables, ask);
  Plan first;
  ask_hosts(ql, first);
  run(ask, recorded, first, tables);
  const Hosts hosts(tables);
  Analysis out;
  if (hosts.seen() > 0) {
    ql.shard_by(hosts);
    run_plans(ql, hosts, recorded, tables, ask);
    find_problems(hosts, tables, out);
    Plan last;
    ask_owners(ql, out.problems, last);
    run(ask, recorded, last, tables);
    add_owners(tables, out.problems);
  }
  sort(out.problems);
  out.hosts_expected = hosts.all().size();
  out.hosts_seen = hosts.seen();
  out.nics = hosts.nics();
  out.units_known = hosts.units_known() || !tables.rows("leaf_count").empty();
  out.rules_used = recorded.any();
  out.warnings = tables.warnings();
  say_what_was_looked_at(tables, out);
  const bool unseen =
      static_cast<double>(out.hosts_seen) < kEnoughSeen * static_cast<double>(out.hosts_expected);
  out.partial = out.partial || !out.warnings.empty() || unseen;
  out.queries = tables.reports();
  add_cells(hosts, out);
  return out;
}

}  // namespace rdma_exporter::fleet
