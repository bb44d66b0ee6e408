// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "fleet/findings/suspects.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "fleet/findings/luck.h"

namespace rdma_exporter::fleet {
namespace {

constexpr double kShare = 0.6;      // of its paths, and half of that of those into it and of those out of it
constexpr double kEnoughPaths = 3;  // bad paths
constexpr double kBadLuck = 0.02;   // that so many are bad by chance
constexpr std::size_t kMaxBlamed = 32;  // components that are blamed

struct PathCount {
  double bad = 0;
  double all = 0;
  void add(const PathCount& other) {
    bad += other.bad;
    all += other.all;
  }
  double share() const { return all > 0 ? bad / all : 0; }
  // Without those of one NIC.
  double elsewhere(const PathCount& here) const {
    return std::max((bad - here.bad + kPrior * kUsual) / (all - here.all + kPrior), kUsual);
  }
};

bool crosses(const VoteNic& from, const VoteNic& to, const VoteEdge& edge, const Blamed& blamed) {
  switch (blamed.part) {
    case Part::nic:
      return edge.from == blamed.index || edge.to == blamed.index;
    case Part::host:
      return from.host == blamed.index || to.host == blamed.index;
    case Part::leaf:
      return from.leaf == blamed.index || to.leaf == blamed.index;
    case Part::uplinks:
      return from.leaf != to.leaf && (from.leaf == blamed.index || to.leaf == blamed.index);
  }
  return false;
}

// The paths that nothing blamed so far explains, and how bad those of each host are.
class Witnesses {
 public:
  Witnesses(const std::vector<VoteNic>& nics, const std::vector<VoteEdge>& edges, const Verdict& verdict)
      : nics_(nics) {
    std::size_t hosts = 0;
    for (const VoteNic& nic : nics) hosts = std::max(hosts, nic.host + 1);
    sent_.resize(hosts);
    received_.resize(hosts);
    for (const VoteEdge& edge : edges)
      if (!edge.bad || !is_explained(edge, verdict)) edges_.push_back(edge);
    for (const VoteEdge& edge : edges_) sent_[from(edge)].add(as_sent(edge));
    for (const VoteEdge& edge : edges_) received_[to(edge)].add(as_received(edge));
  }

  /// Its paths, if they accuse it.
  std::optional<PathCount> accuse(std::size_t nic) const {
    std::vector<VoteEdge> paths;
    std::copy_if(edges_.begin(), edges_.end(), std::back_inserter(paths),
                 [nic](const VoteEdge& edge) { return edge.from == nic || edge.to == nic; });
    PathCount all;
    PathCount out;
    PathCount in;
    for (const VoteEdge& edge : paths) {
      all.add(as_sent(edge));
      (edge.from == nic ? out : in).add(as_sent(edge));
    }
    if (all.bad < kEnoughPaths || all.share() < kShare) return std::nullopt;
    if (std::min(out.share(), in.share()) < kShare / 2) return std::nullopt;
    Luck luck;
    for (const VoteEdge& edge : paths) luck.add(chance(edge, paths), edge.bad);
    if (luck.value() >= kBadLuck) return std::nullopt;
    return all;
  }

 private:
  std::size_t from(const VoteEdge& edge) const { return nics_[edge.from].host; }
  std::size_t to(const VoteEdge& edge) const { return nics_[edge.to].host; }

  bool is_explained(const VoteEdge& edge, const Verdict& verdict) const {
    return std::any_of(verdict.blamed.begin(), verdict.blamed.end(), [&](const Blamed& blamed) {
      return crosses(nics_[edge.from], nics_[edge.to], edge, blamed);
    });
  }

  static PathCount as_sent(const VoteEdge& edge) { return {edge.bad ? 1.0 : 0.0, 1}; }
  // What is bad beyond what its prober has on all of its paths.
  PathCount as_received(const VoteEdge& edge) const {
    const double noise = sent_[from(edge)].share();
    return {(edge.bad ? 1 : 0) - noise, 1 - noise};
  }

  // That a path is bad by what its two hosts have on other paths than those of the NIC.
  double chance(const VoteEdge& edge, const std::vector<VoteEdge>& of_nic) const {
    PathCount sent;
    PathCount received;
    for (const VoteEdge& one : of_nic) {
      if (from(one) == from(edge)) sent.add(as_sent(one));
      if (to(one) == to(edge)) received.add(as_received(one));
    }
    return 1 - (1 - sent_[from(edge)].elsewhere(sent)) * (1 - received_[to(edge)].elsewhere(received));
  }

  const std::vector<VoteNic>& nics_;
  std::vector<VoteEdge> edges_;      // without those that what is blamed explains
  std::vector<PathCount> sent_;      // by host
  std::vector<PathCount> received_;  // by host, as_received()
};

}  // namespace

void blame_suspects(const std::vector<VoteNic>& nics, const std::vector<VoteEdge>& edges,
                    const std::vector<std::size_t>& suspects, Verdict& verdict) {
  std::optional<Witnesses> witnesses;  // of what is not explained yet
  for (const std::size_t nic : suspects) {
    if (verdict.blamed.size() >= kMaxBlamed) return;
    if (!witnesses) witnesses.emplace(nics, edges, verdict);
    const auto paths = witnesses->accuse(nic);
    if (!paths) continue;
    const Blamed blamed{Part::nic, nic, paths->bad, paths->all};
    verdict.blamed.push_back(blamed);
    std::erase_if(verdict.unexplained, [&](std::size_t i) {
      return crosses(nics[edges[i].from], nics[edges[i].to], edges[i], blamed);
    });
    witnesses.reset();
  }
}

}  // namespace rdma_exporter::fleet
