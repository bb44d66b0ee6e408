// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "fleet/findings/vote.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "fleet/findings/luck.h"

namespace rdma_exporter::fleet {
namespace {

struct Limits {
  double share;
  double bad;
  std::size_t nics;  // that its bad edges touch
};

// Indexed by Part. One dead uplink of eight spoils 23 % of the paths between leaves: 1 - (1 - 1/8)^2.
constexpr std::array<Limits, 4> kLimits{{{0.6, 3, 3}, {0.6, 8, 4}, {0.6, 10, 6}, {0.12, 6, 4}}};
constexpr double kChance = 5e-5;  // that a smaller component is bad because of the larger one
constexpr double kOneWay = 1e-3;  // that probes of a host are bad by chance where probes to it are not
// That a component is as bad as it is by what its hosts have elsewhere. Three bad paths of three pass.
constexpr double kLuck = 1e-6;
constexpr double kWorse = 2;  // times what the rest has: load is not the same on all
constexpr double kLuckOneWay = 1e-3;
constexpr double kEnough = 3;  // edges that tell
constexpr std::size_t kMaxComponents = 32;

using Id = std::pair<Part, std::size_t>;

struct Count {
  double bad = 0;
  double all = 0;
  double share() const { return all > 0 ? bad / all : 0; }
  void add(const VoteEdge& edge) {
    all += edge.weight;
    if (edge.bad) bad += edge.weight;
  }
};

// The direction in which an edge crosses a component.
enum class Direction : std::uint8_t { out, in, inside };

struct Crossing {
  Id id;
  Direction direction;
};

// The components that an edge crosses, without duplicates. On the stack, because a fleet has a quarter of a
// million edges.
class Crossings {
 public:
  Crossings(const VoteEdge& edge, const std::vector<VoteNic>& nics) {
    const VoteNic& from = nics[edge.from];
    const VoteNic& to = nics[edge.to];
    add(Part::nic, edge.from, edge.to);
    add(Part::host, from.host, to.host);
    if (from.leaf == kNoLeaf || to.leaf == kNoLeaf) return;
    add(Part::leaf, from.leaf, to.leaf);
    if (from.leaf != to.leaf) add(Part::uplinks, from.leaf, to.leaf);
  }
  const Crossing* begin() const { return all_.data(); }
  const Crossing* end() const { return all_.data() + size_; }

 private:
  void add(Part part, std::size_t from, std::size_t to) {
    all_[size_++] = {{part, from}, from == to ? Direction::inside : Direction::out};
    if (from != to) all_[size_++] = {{part, to}, Direction::in};
  }
  std::array<Crossing, 8> all_{};
  std::size_t size_ = 0;
};

class Vote {
 public:
  Vote(const std::vector<VoteNic>& nics, std::vector<VoteEdge> edges, Cause cause)
      : nics_(nics), edges_(std::move(edges)), cause_(cause), gone_(edges_.size()) {
    std::size_t hosts = 0;
    std::size_t leaves = 0;
    for (const VoteNic& nic : nics_) {
      hosts = std::max(hosts, nic.host + 1);
      if (nic.leaf != kNoLeaf) leaves = std::max(leaves, nic.leaf + 1);
    }
    sizes_ = {nics_.size(), hosts, leaves, leaves};
  }

  Verdict run() {
    Verdict verdict;
    drop_noisy(verdict);
    while (verdict.blamed.size() < kMaxComponents) {
      count();
      const auto best = choose();
      if (!best) break;
      const Count& found = tally_of(*best).all;
      verdict.blamed.push_back({best->first, best->second, found.bad, found.all});
      withdraw(*best);
    }
    for (std::size_t i = 0; i < edges_.size(); ++i)
      if (edges_[i].bad && !gone_[i]) verdict.unexplained.push_back(i);
    return verdict;
  }

 private:
  // Counts for a component.
  struct Tally {
    Count all;
    Count out;  // those of them that leave it
    Count in;   // and those that enter it
  };
  Tally& tally_of(const Id& id) { return tallies_[static_cast<std::size_t>(id.first)][id.second]; }

  void count() {
    for (std::size_t part = 0; part < tallies_.size(); ++part) tallies_[part].assign(sizes_[part], {});
    total_ = {};
    for (std::size_t i = 0; i < edges_.size(); ++i) {
      if (gone_[i]) continue;
      total_.add(edges_[i]);
      for (const auto& [id, direction] : Crossings(edges_[i], nics_)) {
        Tally& tally = tally_of(id);
        tally.all.add(edges_[i]);
        if (direction == Direction::out) tally.out.add(edges_[i]);
        if (direction == Direction::in) tally.in.add(edges_[i]);
      }
    }
  }

  // A path crosses both directions (request and acknowledgement), so paths that are bad in one direction only
  // point to the prober. The results of other hosts count only if these are not suspects themselves: hosts of
  // one job are busy together.
  void drop_noisy(Verdict& verdict) {
    constexpr double kOut = 0.6;
    constexpr double kIn = 0.25;
    constexpr double kSuspect = 0.15;
    std::vector<Count> out(sizes_[1]);
    std::vector<Count> in(sizes_[1]);
    for (const VoteEdge& edge : edges_) out[nics_[edge.from].host].add({0, 0, 1, edge.bad});
    const auto suspect = [&](std::size_t host) {
      return out[host].bad >= 3 && out[host].share() >= kSuspect;
    };
    for (const VoteEdge& edge : edges_)
      if (!suspect(nics_[edge.from].host)) in[nics_[edge.to].host].add({0, 0, 1, edge.bad});
    const auto one_way = [&](std::size_t host) {
      if (in[host].all < 3) return false;
      if (out[host].share() >= kOut && in[host].share() <= kIn) return true;
      const double likely = (in[host].bad + 1) / (in[host].all + 2);  // not 0, because there are few of them
      return tail(out[host].all, out[host].bad, likely) < kOneWay;
    };
    std::vector<bool> noisy(sizes_[1]);
    for (std::size_t host = 0; host < sizes_[1]; ++host) {
      if (!suspect(host) || !one_way(host)) continue;
      noisy[host] = true;
      verdict.noisy.push_back(host);
    }
    for (std::size_t i = 0; i < edges_.size(); ++i)
      if (edges_[i].bad && noisy[nics_[edges_[i].from].host]) gone_[i] = true;
  }

  static double score(const Count& count) { return count.bad * std::sqrt(count.bad / count.all); }

  // A component must be bad in both directions, too, if it is probed in both: otherwise its own hosts are the
  // cause.
  static bool both_ways(const Tally& tally, const Limits& limits) {
    if (tally.out.all < kEnough || tally.in.all < kEnough) return true;
    return std::min(tally.out.share(), tally.in.share()) >= limits.share / 2;
  }

  // Whether it is worse than the rest, and so in both directions. What may be load has to be: under load all
  // are bad. Each path is compared with the other paths of its two hosts, because some hosts are busier than
  // others: what they send looks late, whatever it crosses. A prober of little weight does not count here.
  bool stands_out(const Id& id) {
    if (cause_ != Cause::maybe_load) return true;
    const Tally& tally = tally_of(id);
    const Count rest{total_.bad - tally.all.bad, total_.all - tally.all.all};
    const double usual = std::max(rest.share(), kUsual);
    if (tally.all.share() < kWorse * usual) return false;
    const auto paths = paths_across(id);
    std::map<std::size_t, Count> across;  // by host
    for (const auto& [edge, direction] : paths)
      for (const std::size_t host : hosts_of(edge)) across[host].add(edges_[edge]);
    const auto chance = [&](std::size_t host) {
      const Count& all = tally_of({Part::host, host}).all;
      return (all.bad - across[host].bad + kPrior * usual) / (all.all - across[host].all + kPrior);
    };
    Luck both;
    std::array<Luck, 3> by_direction;
    for (const auto& [edge, direction] : paths) {
      if (edges_[edge].weight < 1) continue;
      double expected = usual;
      for (const std::size_t host : hosts_of(edge)) expected = std::max(expected, chance(host));
      both.add(expected, edges_[edge].bad);
      by_direction[static_cast<std::size_t>(direction)].add(expected, edges_[edge].bad);
    }
    const auto by_luck = [&by_direction](Direction direction) {
      const Luck& luck = by_direction[static_cast<std::size_t>(direction)];
      return static_cast<double>(luck.trials()) >= kEnough && luck.value() >= kLuckOneWay;
    };
    return both.value() < kLuck && !by_luck(Direction::out) && !by_luck(Direction::in);
  }

  std::set<std::size_t> hosts_of(std::size_t edge) const {
    return {nics_[edges_[edge].from].host, nics_[edges_[edge].to].host};
  }

  std::vector<std::pair<std::size_t, Direction>> paths_across(const Id& id) const {
    std::vector<std::pair<std::size_t, Direction>> paths;
    for (std::size_t i = 0; i < edges_.size(); ++i)
      if (!gone_[i])
        for (const Crossing& one : Crossings(edges_[i], nics_))
          if (one.id == id) paths.emplace_back(i, one.direction);
    return paths;
  }

  std::size_t nics_touched(const Id& id) const {
    std::set<std::size_t> touched;
    for (std::size_t i = 0; i < edges_.size(); ++i)
      if (!gone_[i] && edges_[i].bad && crosses(i, id)) touched.insert({edges_[i].from, edges_[i].to});
    return touched.size();
  }
  bool crosses(std::size_t edge, const Id& id) const {
    const Crossings parts(edges_[edge], nics_);
    return std::any_of(parts.begin(), parts.end(), [&id](const Crossing& one) { return one.id == id; });
  }

  // The components that are bad enough, best first; of equals, the smaller kind.
  std::vector<Id> candidates() {
    std::vector<Id> all;
    for (std::size_t part = 0; part < tallies_.size(); ++part)
      for (std::size_t index = 0; index < sizes_[part]; ++index) {
        const Id id{static_cast<Part>(part), index};
        const Tally& tally = tally_of(id);
        const Limits& limits = kLimits[part];
        if (tally.all.bad < limits.bad || tally.all.bad < limits.share * tally.all.all) continue;
        if (!both_ways(tally, limits) || !stands_out(id)) continue;
        if (nics_touched(id) >= limits.nics) all.push_back(id);
      }
    std::stable_sort(all.begin(), all.end(), [this](const Id& a, const Id& b) {
      return score(tally_of(a).all) > score(tally_of(b).all);
    });
    return all;
  }

  // The bad share of `large` without `small`, if the two overlap.
  std::optional<double> share_without(const Id& large, const Id& small) const {
    Count rest;
    bool overlap = false;
    for (std::size_t i = 0; i < edges_.size(); ++i) {
      if (gone_[i] || !crosses(i, large)) continue;
      if (crosses(i, small)) {
        overlap = overlap || edges_[i].bad;
        continue;
      }
      rest.all += edges_[i].weight;
      if (edges_[i].bad) rest.bad += edges_[i].weight;
    }
    if (!overlap) return std::nullopt;
    return rest.all > 0 ? rest.bad / rest.all : 0;
  }

  std::optional<Id> choose() {
    const std::vector<Id> all = candidates();
    if (all.empty()) return std::nullopt;
    for (const Id& id : all) {
      if (id.first >= all.front().first) continue;
      const auto rest = share_without(all.front(), id);
      const Count& count = tally_of(id).all;
      if (rest && tail(count.all, count.bad, *rest) < kChance) return id;
    }
    return all.front();
  }

  void withdraw(const Id& id) {
    for (std::size_t i = 0; i < edges_.size(); ++i)
      if (edges_[i].bad && crosses(i, id)) gone_[i] = true;
  }

  const std::vector<VoteNic>& nics_;
  std::vector<VoteEdge> edges_;
  const Cause cause_;
  std::vector<bool> gone_;
  std::array<std::size_t, 4> sizes_{};
  std::array<std::vector<Tally>, 4> tallies_;
  Count total_;
};

}  // namespace

Verdict vote(const std::vector<VoteNic>& nics, std::vector<VoteEdge> edges, Cause cause) {
  return Vote(nics, std::move(edges), cause).run();
}

}  // namespace rdma_exporter::fleet
