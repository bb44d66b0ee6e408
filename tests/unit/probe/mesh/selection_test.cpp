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

TEST(Selection, ProbesEachHostFromExactlyAsManyHosts) {
  const auto members = hosts(512);
  for (const std::uint64_t epoch : {0ULL, 1ULL, 126ULL, 5'900'000ULL}) {
    const Edges all = edges(members, Scope::same, 4, 4, epoch);
    EXPECT_EQ(all.size(), 512U * 8U) << epoch;
    EXPECT_EQ(in_degree(members, all), (Degrees{8, 8})) << epoch;
  }
}

TEST(Selection, KeepsTheRingAndRotatesTheRest) {
  const Selection selection(hosts(64));
  const auto first = selection.choose("host-3:9401", Scope::same, 4, 4, 7);
  const auto next = selection.choose("host-3:9401", Scope::same, 4, 4, 8);
  ASSERT_EQ(first.size(), 8U);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(first[i].rotating, i >= 4);
    EXPECT_EQ(first[i].name == next[i].name, i < 4) << i;
  }
}

TEST(Selection, CoversEveryOrderedPairInTheFewestEpochs) {
  const auto members = hosts(101);
  Edges seen;
  for (std::uint64_t epoch = 1000; epoch < 1000 + 24; ++epoch)
    seen.merge(edges(members, Scope::same, 4, 4, epoch));
  EXPECT_EQ(seen.size(), 101U * 100U) << "(100 - 4) / 4 = 24 epochs";
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
  const Edges all = edges(members, Scope::same, 4, 4, 11);
  for (const auto& [from, to] : all) EXPECT_EQ(kind[from], kind[to]);
  EXPECT_EQ(in_degree(members, all), (Degrees{8, 8}));
}

TEST(Selection, OfOtherKindsIsExactWhereTheyAreEquallyLarge) {
  const auto members = hosts(256, 8);
  std::map<std::string, std::string> kind;
  for (const Member& member : members) kind[member.name] = member.kind;
  const Edges all = edges(members, Scope::other, 7, 3, 5);
  for (const auto& [from, to] : all) EXPECT_NE(kind[from], kind[to]);
  EXPECT_EQ(in_degree(members, all), (Degrees{10, 10}));
  const Selection selection(members);
  std::set<std::string> kinds_of_ring;
  for (const Choice& choice : selection.choose("host-0:9401", Scope::other, 7, 0, 5))
    kinds_of_ring.insert(kind[std::string(choice.name)]);
  EXPECT_EQ(kinds_of_ring.size(), 7U) << "the first seven are of seven kinds";
}

TEST(Selection, OfOtherKindsCoversAllPairs) {
  const auto members = hosts(24, 4);
  Edges seen;
  const std::size_t slots = Selection(members).slots("host-0:9401", Scope::other);
  EXPECT_EQ(slots, 18U);
  for (std::uint64_t epoch = 0; epoch < 4; ++epoch) seen.merge(edges(members, Scope::other, 2, 4, epoch));
  EXPECT_EQ(seen.size(), 24U * 18U);
}

TEST(Selection, OfKindsOfDifferentSizeLeavesNobodyOut) {
  auto members = hosts(30, 1);
  for (std::size_t i = 0; i < 10; ++i) members.push_back({"small-" + std::to_string(i), "rail1"});
  const Degrees degrees = in_degree(members, edges(members, Scope::other, 4, 0, 0));
  EXPECT_GE(degrees.first, 1U);
}

}  // namespace
}  // namespace rdma_exporter::probe
