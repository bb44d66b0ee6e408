// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/mesh/selection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace rdma_exporter::probe {
namespace {

std::vector<Member> hosts(std::size_t count, std::size_t kinds = 1) {
  std::vector<Member> members;
  for (std::size_t i = 0; i < count; ++i)
    members.push_back({"host-" + std::to_string(i) + ":9401", "rail" + std::to_string(i % kinds)});
  return members;
}

using Edges = std::set<std::pair<std::string, std::string>>;

Edges edges(const std::vector<Member>& members, Scope scope, std::size_t ring, std::size_t rotate,
            std::uint64_t epoch) {
  const Selection selection(members);
  Edges all;
  for (const Member& member : members)
    for (const Choice& choice : selection.choose(member.name, scope, ring, rotate, epoch))
      all.emplace(member.name, choice.name);
  return all;
}

// Least and most hosts that probe one host.
std::pair<std::size_t, std::size_t> in_degree(const std::vector<Member>& members, const Edges& edges) {
  std::map<std::string, std::size_t> probed;
  for (const Member& member : members) probed[member.name] = 0;
  for (const auto& [from, to] : edges) ++probed[to];
  const auto [least, most] = std::minmax_element(
      probed.begin(), probed.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return {least->second, most->second};
}

using Degrees = std::pair<std::size_t, std::size_t>;

TEST(Selection, ProbesEachHostAlwaysFromExactlyAsManyHosts) {
  const auto members = hosts(512);
  const Edges all = edges(members, Scope::same, 4, 0, 7);
  EXPECT_EQ(all.size(), 512U * 4U);
  EXPECT_EQ(in_degree(members, all), (Degrees{4, 4}));
}

TEST(Selection, RotatesAsManyAsAskedForOnAverageAndNeverManyMore) {
  const auto members = hosts(512);
  for (const std::uint64_t epoch : {0ULL, 1ULL, 126ULL, 5'900'000ULL}) {
    const Edges all = edges(members, Scope::same, 0, 4, epoch);
    EXPECT_NEAR(static_cast<double>(all.size()), 512 * 4, 0.05 * 512 * 4) << epoch;
    EXPECT_LE(in_degree(members, all).second, 4 * 4U) << epoch;
  }
}

TEST(Selection, KeepsTheRingAndRotatesTheRest) {
  const Selection selection(hosts(64));
  const auto first = selection.choose("host-3:9401", Scope::same, 4, 4, 7);
  const auto next = selection.choose("host-3:9401", Scope::same, 4, 4, 8);
  ASSERT_GE(first.size(), 4U);
  std::set<std::string_view> rotating;
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].rotating, i >= 4);
    if (i < 4) {
      EXPECT_EQ(first[i].name, next[i].name);
    } else {
      rotating.insert(first[i].name);
    }
  }
  for (std::size_t i = 4; i < next.size(); ++i) EXPECT_FALSE(rotating.contains(next[i].name));
}

TEST(Selection, CoversEveryOrderedPairInTheEpochsItPromises) {
  const auto members = hosts(101);
  const std::uint64_t promised = Selection::epochs_to_cover(96, 4);
  EXPECT_EQ(promised, 64U);
  for (const std::uint64_t begin : {0ULL, 1000ULL, 5'900'017ULL}) {
    Edges seen;
    for (std::uint64_t epoch = begin; epoch < begin + promised; ++epoch)
      seen.merge(edges(members, Scope::same, 4, 4, epoch));
    EXPECT_EQ(seen.size(), 101U * 100U) << begin;
  }
}

// One of a hundred hosts goes in each hour of twelve epochs, and another comes.
TEST(Selection, CoversThePairsOfHostsThatStayWhileOthersComeAndGo) {
  constexpr std::size_t kHosts = 128;
  auto members = hosts(kHosts);
  Edges seen;
  const std::uint64_t promised = Selection::epochs_to_cover(kHosts - 1, 4);
  std::size_t gone = 0;
  for (std::uint64_t epoch = 0; epoch < promised; ++epoch) {
    if (epoch % 12 == 11) {
      members[gone] = {"new-" + std::to_string(gone) + ":9401", "rail0"};
      ++gone;
    }
    seen.merge(edges(members, Scope::same, 4, 4, epoch));
  }
  ASSERT_GE(gone, 5U);
  std::size_t missed = 0;
  for (std::size_t i = gone; i < kHosts; ++i)
    for (std::size_t j = gone; j < kHosts; ++j)
      if (i != j && !seen.contains({members[i].name, members[j].name})) ++missed;
  EXPECT_EQ(missed, 0U);
}

TEST(Selection, LeavesNearlyAllPairsAloneWhenAHostJoins) {
  for (const std::size_t count : {256U, 512U, 1000U}) {  // one of them at a power of two, where it was worst
    for (const std::uint64_t epoch : {3ULL, 5'900'077ULL}) {
      const Edges before = edges(hosts(count), Scope::same, 4, 4, epoch);
      const Edges after = edges(hosts(count + 1), Scope::same, 4, 4, epoch);
      std::size_t changed = 0;
      for (const auto& edge : before) changed += after.contains(edge) ? 0U : 1U;
      EXPECT_LE(static_cast<double>(changed), 0.02 * static_cast<double>(before.size()))
          << count << " " << epoch;
    }
  }
}

TEST(Selection, NeverProbesItself) {
  for (const std::size_t count : {1U, 2U, 3U, 5U, 9U})
    for (std::uint64_t epoch = 0; epoch < 12; ++epoch)
      for (const auto& [from, to] : edges(hosts(count), Scope::same, 4, 4, epoch)) EXPECT_NE(from, to);
}

TEST(Selection, OfASmallFleetIsEverybodyElse) {
  EXPECT_EQ(edges(hosts(5), Scope::same, 4, 4, 3).size(), 5U * 4U);
  EXPECT_EQ(edges(hosts(2), Scope::same, 4, 4, 3).size(), 2U);
  EXPECT_TRUE(edges(hosts(1), Scope::same, 4, 4, 3).empty());
  EXPECT_TRUE(Selection({}).choose("a", Scope::same, 4, 4, 0).empty());
  EXPECT_TRUE(Selection({}).choose("a", Scope::other, 4, 4, 0).empty());
}

TEST(Selection, OfAHostThatIsNoMemberIsEmpty) {
  EXPECT_TRUE(Selection(hosts(8)).choose("elsewhere", Scope::same, 4, 4, 0).empty());
}

TEST(Selection, DoesNotDependOnTheOrderOrRepetitionOfTheList) {
  auto members = hosts(40);
  const Edges before = edges(members, Scope::same, 3, 2, 9);
  std::reverse(members.begin(), members.end());
  members.push_back(members.front());
  EXPECT_EQ(edges(members, Scope::same, 3, 2, 9), before);
}

TEST(Selection, ChangesFewRingTargetsWhenAHostJoinsOrLeaves) {
  const auto many = hosts(512);
  const std::vector<Member> fewer(many.begin(), many.end() - 1);
  const Edges with = edges(many, Scope::same, 8, 0, 0);
  const Edges without = edges(fewer, Scope::same, 8, 0, 0);
  std::size_t gone = 0;
  for (const auto& edge : without) gone += with.contains(edge) ? 0U : 1U;
  EXPECT_EQ(gone, 8U) << "each of the eight in front of the new host gives up its farthest target";
  EXPECT_EQ(with.size() - without.size(), 8U);
}

TEST(Selection, KeepsToItsKind) {
  const auto members = hosts(256, 8);
  std::map<std::string, std::string> kind;
  for (const Member& member : members) kind[member.name] = member.kind;
  for (const auto& [from, to] : edges(members, Scope::same, 4, 4, 11)) EXPECT_EQ(kind[from], kind[to]);
  for (const auto& [from, to] : edges(members, Scope::other, 4, 4, 11)) EXPECT_NE(kind[from], kind[to]);
}

TEST(Selection, OfOtherKindsBeginsWithOneOfEach) {
  const auto members = hosts(256, 8);
  std::map<std::string, std::string> kind;
  for (const Member& member : members) kind[member.name] = member.kind;
  const Selection selection(members);
  std::set<std::string> kinds_of_ring;
  for (const Choice& choice : selection.choose("host-0:9401", Scope::other, 7, 0, 5))
    kinds_of_ring.insert(kind[std::string(choice.name)]);
  EXPECT_EQ(kinds_of_ring.size(), 7U) << "the first seven are of seven kinds";
}

TEST(Selection, OfOtherKindsCoversAllPairs) {
  const auto members = hosts(24, 4);
  Edges seen;
  const std::size_t all = Selection(members).candidates("host-0:9401", Scope::other);
  EXPECT_EQ(all, 18U);
  for (std::uint64_t epoch = 0; epoch < Selection::epochs_to_cover(all - 2, 4); ++epoch)
    seen.merge(edges(members, Scope::other, 2, 4, epoch));
  EXPECT_EQ(seen.size(), 24U * 18U);
}

TEST(Selection, OfKindsOfDifferentSizeTakesAllOfTheSmallOne) {
  auto members = hosts(30, 1);
  for (std::size_t i = 0; i < 2; ++i) members.push_back({"small-" + std::to_string(i), "rail1"});
  const Selection selection(members);
  const auto chosen = selection.choose("host-3:9401", Scope::other, 4, 4, 0);
  EXPECT_EQ(chosen.size(), 2U);
  for (const Choice& choice : chosen) EXPECT_TRUE(choice.name.starts_with("small-"));
}

}  // namespace
}  // namespace rdma_exporter::probe
