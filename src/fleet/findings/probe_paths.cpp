// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "fleet/findings/probe_paths.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "fleet/findings/path_map.h"
#include "fleet/findings/signs.h"
#include "fleet/findings/suspects.h"
#include "fleet/findings/vote.h"
#include "fleet/names.h"

namespace rdma_exporter::fleet {
namespace {

constexpr std::string_view kPaths = R"(op=~"write|read",target!="")";
// Excludes failures that do not concern the path: setup on this side, and refusals.
constexpr std::string_view kFailed =
    R"(op=~"write|read",target!="",stage!~"local|gid|resolve",reason!~"rejected_.*")";
constexpr double kFailing = 0.1;     // share of the attempts
constexpr double kSuspected = 3;     // retransmissions in the window; the network of an idle fleet has none
constexpr std::size_t kWorthIt = 3;  // bad paths of a rail
constexpr double kBusy = 0.25;       // weight of what a busy prober says
constexpr std::size_t kManyNoisy = 20;   // hosts that get one problem together
constexpr std::size_t kEverywhere = 10;  // one in so many paths of a rail, and no component explains them
constexpr double kBlocked = 0.5;         // share of a path's probes, or of a host's paths, that are not sent

std::string and_also(std::string_view matchers, const std::string& more) {
  return more.empty() ? std::string(matchers) : fmt::format("{},{}", matchers, more);
}

std::set<std::string> rails_with_bad_paths(const Tables& tables) {
  std::map<std::string, std::size_t> counts;
  for (const char* table : {"failing_paths", "lossy_paths", "blocked_paths"})
    for (const Row& row : tables.rows(table)) ++counts[row.cells[1]];
  std::set<std::string> rails;
  for (const auto& [device, count] : counts)
    if (count >= kWorthIt) rails.insert(device);
  return rails;
}

using PathKey = std::pair<std::pair<std::string, std::string>, std::string>;  // instance, device; target

PathKey key_of(const Row& row, std::size_t target) {
  return {{row.cells[0], row.cells[1]}, row.cells[target]};
}

// A symptom of paths.
struct Symptom {
  std::string_view table;
  std::string_view suffix;  // of the kind of problem
  std::string_view verb;    // "fail", "lose packets"
  Severity severity;
  Cause cause;
};
constexpr Symptom kHard{"failing_paths", "unreachable", "fail", Severity::critical, Cause::fault};
constexpr Symptom kSoft{"lossy_paths", "losing", "lose packets", Severity::warning, Cause::maybe_load};

class Search {
 public:
  Search(const Hosts& hosts, const Tables& tables, Analysis& out)
      : hosts_(hosts), tables_(tables), out_(out) {
    for (const Row& row : tables.rows("busy_probers")) busy_.insert({row.cells[0], row.cells[1]});
  }

  void look_for(const Symptom& symptom) {
    PathMap map(hosts_, tables_);
    std::set<PathKey> bad;
    for (const Row& row : tables_.rows(symptom.table)) bad.insert(key_of(row, 3));
    std::vector<VoteEdge> edges;
    std::vector<PathKey> names;
    for (const Row& row : tables_.rows("paths")) {
      const PathKey key = key_of(row, 2);
      const Host* target = hosts_.by_target(row.cells[2]);
      if (target != nullptr && !target->up) continue;  // its host is down, which is a problem of its own
      const bool is_bad = bad.contains(key) && !explained_.contains(key);
      edges.push_back({map.nic(row.cells[0], row.cells[1]), map.target(row.cells[2], row.cells[1]),
                       busy_.contains(key.first) ? kBusy : 1, is_bad});
      names.push_back(key);
    }
    const Verdict verdict = judge(symptom, map, edges);
    for (const Blamed& blamed : verdict.blamed) report(symptom, map, blamed);
    report_noisy(symptom, map, verdict.noisy);
    for (std::size_t i = 0; i < edges.size(); ++i)
      if (edges[i].bad) explained_.insert(names[i]);  // by the vote, or named below; not examined again
    std::map<std::string, std::vector<std::size_t>> unexplained;  // by rail
    for (const std::size_t i : verdict.unexplained) unexplained[names[i].first.second].push_back(i);
    std::map<std::string, std::size_t> sizes;
    for (const PathKey& path : names) ++sizes[path.first.second];
    for (const auto& [device, paths] : unexplained)
      if (paths.size() * kEverywhere > sizes[device])
        report_rail(symptom, device, paths.size(), sizes[device]);
      else
        for (const std::size_t i : paths) add_unexplained(symptom, names[i]);
  }

 private:
  Verdict judge(const Symptom& symptom, PathMap& map, const std::vector<VoteEdge>& edges) const {
    Verdict verdict = vote(map.nics, edges, symptom.cause);
    if (symptom.cause != Cause::maybe_load) return verdict;
    std::vector<std::size_t> suspects;
    for (const auto& [instance, device] : losing_by_counters(hosts_, tables_))
      suspects.push_back(map.nic(instance, device));
    blame_suspects(map.nics, edges, suspects, verdict);
    return verdict;
  }

  void add_unexplained(const Symptom& symptom, const PathKey& path) {
    out_.unexplained.push_back(fmt::format("{} {} to {}: probes {}", host_part(path.first.first),
                                           path.first.second, path.second, symptom.verb));
  }

  // Too many for single paths, and no part of the rail is worse than the rest.
  void report_rail(const Symptom& symptom, const std::string& device, std::size_t bad, std::size_t all) {
    Problem problem;
    problem.kind = "rail_" + std::string(symptom.suffix);
    problem.severity = symptom.cause == Cause::fault ? Severity::warning : Severity::info;
    problem.confidence = 0.5;
    problem.component = {"rail", "", "", device};
    problem.title = fmt::format("{} of {} paths of rail {} {}, and no part of it stands out", bad, all,
                                device, symptom.verb);
    problem.evidence.push_back({"all over the rail", std::string(symptom.table),
                                static_cast<double>(bad) / static_cast<double>(all)});
    problem.excluded = {"single NICs, hosts and leaves: none is worse than the others"};
    problem.next = symptom.cause == Cause::fault ? "the rail's spines, and what was changed on all hosts"
                                                 : "are the hosts busy? If not: the rail's spines";
    out_.problems.push_back(std::move(problem));
  }

  void report(const Symptom& symptom, const PathMap& map, const Blamed& blamed) {
    Problem problem;
    problem.severity = symptom.severity;
    problem.confidence = std::min(0.99, 0.5 + blamed.share() / 2);
    std::string what;
    switch (blamed.part) {
      case Part::nic: {
        const auto& [instance, device] = map.nic_names[blamed.index];
        problem.component = {"nic", map.unit_of(blamed.index), instance, device};
        problem.blast = {{}, 1, 1};
        what = fmt::format("NIC {} of {}", device, host_part(instance));
        problem.next =
            fmt::format("ssh {} rdma_exporter doctor; then its cable and switch port", host_part(instance));
        problem.excluded = {"the other NICs of the host", "the leaf: other NICs on it are reachable"};
        break;
      }
      case Part::host: {
        const std::string& instance = map.host_names[blamed.index];
        const Host* host = hosts_.by_instance(instance);
        problem.component = {"host", hosts_.unit_of(instance), instance};
        problem.blast = {{}, 1, host == nullptr ? 0 : host->devices};
        what = "host " + host_part(instance);
        problem.next = fmt::format("ssh {} rdma_exporter doctor", host_part(instance));
        problem.excluded = {"a single NIC: the host's other rails are affected too"};
        break;
      }
      case Part::leaf:
      case Part::uplinks:
        what = leaf(map, blamed, problem);
        break;
    }
    problem.kind = problem.component.kind + "_" + std::string(symptom.suffix);
    problem.title =
        fmt::format("{:.0f} % of the paths through {} {}", 100 * blamed.share(), what, symptom.verb);
    problem.evidence.push_back({fmt::format("{:.0f} of {:.0f} probed paths through it {}; paths that avoid "
                                            "it do not",
                                            blamed.bad, blamed.all, symptom.verb),
                                std::string(symptom.table), blamed.share()});
    out_.problems.push_back(std::move(problem));
  }

  std::string leaf(const PathMap& map, const Blamed& blamed, Problem& problem) {
    const auto& [unit, device] = map.leaves[blamed.index];
    const bool uplinks = blamed.part == Part::uplinks;
    std::set<std::size_t> hosts;
    for (const VoteNic& nic : map.nics)
      if (nic.leaf == blamed.index) hosts.insert(nic.host);
    problem.component = {uplinks ? "uplinks" : "leaf", unit, "", device};
    problem.blast = {{}, hosts.size(), hosts.size()};
    problem.next = fmt::format("the switch of {} on rail {}: {}", unit, device,
                               uplinks ? "its uplinks, one by one" : "is it up, its log, its ports");
    problem.excluded = {"single NICs and hosts: many are affected in the same way"};
    if (uplinks) problem.excluded.emplace_back("the leaf itself: paths inside it work");
    return fmt::format("{} of {} on rail {}", uplinks ? "the uplinks of the leaf" : "the leaf", unit, device);
  }

  // Reports each host, or many as one problem: a job that keeps its hosts busy.
  void report_noisy(const Symptom& symptom, const PathMap& map, const std::vector<std::size_t>& hosts) {
    if (hosts.empty()) return;
    const bool many = hosts.size() > kManyNoisy;
    std::vector<std::string> members;
    for (const std::size_t host : hosts) {
      const std::string& instance = map.host_names[host];
      if (many)
        members.push_back(host_part(instance));
      else
        add_noisy(symptom, {"host", hosts_.unit_of(instance), instance}, host_part(instance), {});
    }
    if (many) add_noisy(symptom, {"fleet"}, fmt::format("{} hosts", hosts.size()), std::move(members));
  }

  void add_noisy(const Symptom& symptom, Component component, const std::string& who,
                 std::vector<std::string> members) {
    const std::string host = host_part(component.instance);
    Problem problem;
    problem.kind = "prober_noisy";
    problem.confidence = 0.8;
    problem.component = std::move(component);
    problem.members = std::move(members);
    problem.blast = {{}, std::max<std::size_t>(problem.members.size(), 1), 0};
    problem.title =
        fmt::format("probes that {0} send{1} are bad, probes that others send to {2} are not", who,
                    problem.members.empty() ? "s" : "", problem.members.empty() ? "it" : "them");
    problem.evidence.push_back(
        {"a bad path is bad both ways: request and acknowledgement cross it", std::string(symptom.table), 0});
    problem.excluded = {"the network"};
    problem.next =
        host.empty()
            ? "what do these hosts run: one job, one image, one CPU setting"
            : fmt::format("ssh {} rdma_exporter doctor; check its load and the setup of its probe", host);
    out_.problems.push_back(std::move(problem));
  }

  const Hosts& hosts_;
  const Tables& tables_;
  Analysis& out_;
  std::set<std::pair<std::string, std::string>> busy_;
  std::set<PathKey> explained_;
};

// Probes that are not sent say nothing about the RDMA network, only about the exporter's TCP connection or
// keys.
void find_blocked(const Hosts& hosts, const Tables& tables, Analysis& out) {
  struct Count {
    std::size_t all = 0;
    std::map<std::string, std::size_t> reasons{};  // of the blocked ones
  };
  std::map<const Host*, Count> counts;
  for (const Row& row : tables.rows("blocked_paths"))
    if (const Host* host = hosts.by_target(row.cells[3]); host != nullptr && host->up)
      ++counts[host].reasons[row.cells[4]];
  for (const Row& row : tables.rows("paths"))
    if (const auto found = counts.find(hosts.by_target(row.cells[2])); found != counts.end())
      ++found->second.all;
  for (const auto& [host, count] : counts) {
    std::size_t blocked = 0;
    auto most = count.reasons.begin();
    for (auto reason = count.reasons.begin(); reason != count.reasons.end(); ++reason) {
      blocked += reason->second;
      if (reason->second > most->second) most = reason;
    }
    const double share = static_cast<double>(blocked) / static_cast<double>(std::max(count.all, blocked));
    if (blocked < kWorthIt || share < kBlocked) continue;
    Problem problem;
    problem.kind = "probe_blocked";
    problem.severity = Severity::warning;
    problem.confidence = 0.9;
    problem.component = {"host", host->unit, host->instance};
    problem.blast = {{}, 1, 0};
    problem.title = fmt::format("{} of {} paths to {} are not probed: no control connection ({})", blocked,
                                std::max(count.all, blocked), host_part(host->instance), most->first);
    problem.evidence.push_back({"its exporter answers Prometheus", "hosts", 1});
    problem.evidence.push_back({"probes of it are not sent", "blocked_paths", share});
    problem.excluded = {"the RDMA network: nothing was sent"};
    problem.next = fmt::format(
        "ssh {} rdma_exporter doctor: is the probe on, its port open, its key the same as that of the others",
        host_part(host->instance));
    out.problems.push_back(std::move(problem));
  }
}

}  // namespace

void ask_bad_paths(const PromQl& ql, Plan& plan) {
  const std::vector<std::string> path{"instance", "device", "port", "target"};
  constexpr std::string_view kBy = "sum by (instance, device, port, target)";
  // Exceptions only: their share of a path's attempts is queried just for paths that may matter.
  ql.add_sharded(plan, "failing_paths", path, [&](const std::string& shard) {
    return fmt::format("{} ({} > 0)", kBy, ql.increase(names::kFailures, and_also(kFailed, shard)));
  });
  ql.add_sharded(plan, "lossy_paths", path, [&](const std::string& shard) {
    return fmt::format("{} ({}) >= {}", kBy, ql.increase(names::kSuspected, and_also(kPaths, shard)),
                       kSuspected);
  });
  // Probes that a failing control connection kept from being sent are not attempts.
  ql.add_sharded(plan, "blocked_paths", {"instance", "device", "port", "target", "reason"},
                 [&](const std::string& shard) {
                   return fmt::format("sum by (instance, device, port, target, reason) ({} > 0)",
                                      ql.increase(names::kControlFailures, and_also(R"(target!="")", shard)));
                 });
  ql.add_sharded(plan, "path_count", {"device"}, [&](const std::string& shard) {
    return fmt::format("count by (device) ({})",
                       ql.series(names::kAttempts, and_also(R"(op="write",target!="")", shard)));
  });
  plan.push_back({"busy_probers", ql.series(names::kMultiplier) + " < 1", {"instance", "device"}});
}

void ask_leaf_count(const PromQl& ql, Plan& plan) {
  plan.push_back({"leaf_count",
                  fmt::format("count by (device) ({})", ql.series(names::kTargetInfo, R"(target_leaf!="")")),
                  {"device"}});
}

void ask_paths(const PromQl& ql, const Tables& tables, Plan& plan) {
  const std::set<std::string> rails = rails_with_bad_paths(tables);
  for (const Row& row : tables.rows("leaf_count"))
    if (rails.contains(row.cells[0]))
      plan.push_back(
          {"target_leaves",
           fmt::format("group by (target, device, target_leaf) ({})",
                       ql.series(names::kTargetInfo,
                                 and_also(R"(target_leaf!="")", "device=" + in_quotes(row.cells[0])))),
           {"target", "device", "target_leaf"}});
  for (const std::string& device : rails)
    plan.push_back(
        {"paths",
         fmt::format("sum by (instance, device, target) ({})",
                     ql.increase(names::kAttempts, and_also(kPaths, "device=" + in_quotes(device)))),
         {"instance", "device", "target"}});
  std::set<std::string> unsent;
  for (const Row& row : tables.rows("blocked_paths")) unsent.insert(row.cells[3]);
  if (unsent.empty()) return;
  plan.push_back({"sent_to_blocked",
                  fmt::format("sum by (instance, device, port, target) ({})",
                              ql.increase(names::kAttempts, one_of("target", unsent))),
                  {"instance", "device", "port", "target"}});
}

void keep_bad_paths(Tables& tables) {
  std::map<PathKey, double> attempts;
  for (const Row& row : tables.rows("paths")) attempts[key_of(row, 2)] += row.value;
  tables.keep("failing_paths", [&](const Row& row) {
    const auto path = attempts.find(key_of(row, 3));
    return path != attempts.end() && path->second > 0 && row.value >= kFailing * path->second;
  });
  attempts.clear();
  for (const Row& row : tables.rows("sent_to_blocked")) attempts[key_of(row, 3)] += row.value;
  std::map<PathKey, double> unsent;
  for (const Row& row : tables.rows("blocked_paths")) unsent[key_of(row, 3)] += row.value;
  tables.keep("blocked_paths", [&](const Row& row) {
    const PathKey key = key_of(row, 3);
    return row.value >= kBlocked * (unsent[key] + attempts[key]);
  });
}

void find_bad_paths(const Hosts& hosts, const Tables& tables, Analysis& out) {
  for (const Row& row : tables.rows("path_count")) out.edges += static_cast<std::size_t>(row.value);
  Search search(hosts, tables, out);
  search.look_for(kHard);
  search.look_for(kSoft);
  find_blocked(hosts, tables, out);
}

}  // namespace rdma_exporter::fleet
