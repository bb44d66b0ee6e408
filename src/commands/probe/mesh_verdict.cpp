// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "commands/probe/mesh_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <vector>

namespace rdma_exporter::commands {
namespace {

using Operations = std::map<probe::Op, Tally>;

enum class State : unsigned char { works, no_echo, fails, unsent, silent };

struct Seen {
  const probe::Path* path;
  State state;
  std::string text;
};

// The most frequent "STAGE REASON".
std::string reason_of(const Tally& tally) {
  const auto most = std::max_element(tally.reasons().begin(), tally.reasons().end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == tally.reasons().end() ? std::string() : most->first;
}

bool of_control(std::string_view reason) {
  const std::string_view stage = reason.substr(0, reason.find(' '));
  using probe::Stage;
  for (const Stage control : {Stage::resolve, Stage::tcp, Stage::tls, Stage::exchange})
    if (stage == probe::to_string(control)) return true;
  return false;
}

std::string latency(const Operations& operations, bool echo) {
  for (const auto& [op, tally] : operations)
    if ((op == probe::Op::echo) == echo && tally.successes() != 0)
      return fmt::format("{} {}", probe::to_string(op), duration_text(quantile_of(tally.sorted(), 0.5)));
  return {};
}

Seen look(const probe::Path& path, const Operations& operations) {
  std::string failure;
  std::string failed_echo;
  bool probed_one_sided = false;
  for (const auto& [op, tally] : operations) {
    (op == probe::Op::echo ? failed_echo : failure) = reason_of(tally);
    probed_one_sided = probed_one_sided || op != probe::Op::echo;
  }
  const std::string one_sided = latency(operations, false);
  const std::string echo = latency(operations, true);
  if (!one_sided.empty() && echo.empty() && !failed_echo.empty())
    return {&path, State::no_echo, one_sided + ", no echo: " + failed_echo};
  if (!one_sided.empty() || (!probed_one_sided && !echo.empty()) || (!echo.empty() && failure.empty()))
    return {&path, State::works, one_sided.empty() ? echo : one_sided};
  const std::string why = failure.empty() ? failed_echo : failure;
  if (why.empty()) return {&path, State::silent, "nothing has been sent yet"};
  if (of_control(why)) return {&path, State::unsent, "not probed: " + why};
  return {&path, State::fails, "fails: " + why};
}

// For each value of `key`: how many paths exist, and how many of them fail.
struct Votes {
  std::size_t all = 0;
  std::size_t failing = 0;
  std::set<std::string> others{};  // at the other ends
  bool guilty(std::size_t least, bool elsewhere_works) const {
    return failing == all && others.size() >= least && elsewhere_works;
  }
};

using Ballot = std::map<std::string, Votes>;

bool works(const Seen& seen) { return seen.state == State::works || seen.state == State::no_echo; }

Ballot ballot(const std::vector<Seen>& paths, std::string probe::Path::*of, std::string probe::Path::*other) {
  Ballot votes;
  for (const Seen& seen : paths) {
    if (seen.state == State::unsent || seen.state == State::silent) continue;
    Votes& own = votes[seen.path->*of];
    ++own.all;
    own.failing += seen.state == State::fails ? 1U : 0U;
    own.others.insert(seen.path->*other);
  }
  return votes;
}

// Which adapters and peers explain the paths that fail, and how many paths nothing explains. Where no path
// works at all, no single one is to blame.
std::string suspects(const std::vector<Seen>& paths, bool some) {
  std::string text;
  std::set<std::string> blamed;
  for (const auto& [device, votes] : ballot(paths, &probe::Path::device, &probe::Path::target))
    if (votes.guilty(2, some)) {
      blamed.insert(device);
      text += fmt::format(
          "{}: none of its {} paths works, but paths of this host's other adapters do. Suspect this adapter, "
          "its cable or its switch port.\n",
          device, votes.all);
    }
  for (const auto& [target, votes] : ballot(paths, &probe::Path::target, &probe::Path::device))
    if (votes.guilty(2, some)) {
      blamed.insert(target);
      text += fmt::format("{}: no path to it works, from {} adapters. Suspect that host.\n", target,
                          votes.others.size());
    }
  const auto unexplained = std::count_if(paths.begin(), paths.end(), [&](const Seen& seen) {
    return seen.state == State::fails && !blamed.contains(seen.path->device) &&
           !blamed.contains(seen.path->target);
  });
  if (unexplained != 0 && some)
    text += fmt::format(
        "{} other {}. Run `rdma_exporter probe --mesh` on one of these peers to tell which end is at "
        "fault.\n",
        unexplained, unexplained == 1 ? "path fails" : "paths fail");
  if (unexplained != 0 && !some)
    text +=
        "No path over the fabric works. Check this host's ports, addresses and switch; UDP port 4791 must be "
        "open.\n";
  return text;
}

std::string verdict(const std::vector<Seen>& paths) {
  const auto count = [&](State state) {
    return std::count_if(paths.begin(), paths.end(), [&](const Seen& seen) { return seen.state == state; });
  };
  const auto good = std::count_if(paths.begin(), paths.end(), works);
  std::string text = fmt::format("{} of {} paths work.\n", good, paths.size());
  text += suspects(paths, good != 0);
  if (count(State::no_echo) != 0)
    text += fmt::format(
        "The adapters of {} peers answer but their processes do not: those hosts, or their exporters, "
        "hang.\n",
        count(State::no_echo));
  if (count(State::unsent) != 0)
    text += fmt::format(
        "{} paths are not probed because they have no control connection, which says nothing about the "
        "fabric. Is the daemon running there, with the same secret, and is TCP port 9401 open?\n",
        count(State::unsent));
  return text;
}

}  // namespace

std::string mesh_text(const Tallies& tallies, const MeshList& list) {
  if (list.entries == 0) return "The mesh list is empty or could not be read.\n";
  if (!list.member)
    return fmt::format(
        "This host is not in the mesh list, which has {} entries. List it by its host name or by an address "
        "of one of its interfaces.\n",
        list.entries);
  if (tallies.empty())
    return fmt::format(
        "This host is one of {} in the list, but none of its selected RDMA ports is active, or no other host "
        "is on its rail.\n",
        list.entries);
  std::vector<Seen> paths;
  for (const auto& [path, operations] : tallies) paths.push_back(look(path, operations));
  std::size_t widest = 0;
  for (const Seen& seen : paths) widest = std::max(widest, seen.path->target.size());
  std::string text;
  for (const Seen& seen : paths)
    text += fmt::format("{} port {} -> {:<{}}  {}\n", seen.path->device, seen.path->port, seen.path->target,
                        widest, seen.text);
  return text + fmt::format("This host is one of {} in the list. ", list.entries) + verdict(paths);
}

}  // namespace rdma_exporter::commands
