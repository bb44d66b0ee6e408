// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// A synthetic rail: 64 NICs on one host each, 16 per leaf, each of which probes four others.
#include "fleet/findings/vote.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace rdma_exporter::fleet {
namespace {

constexpr std::size_t kNics = 64;
constexpr std::size_t kPerLeaf = 16;

std::size_t leaf_of(std::size_t nic) { return nic / kPerLeaf; }

Verdict verdict_of(const std::function<bool(std::size_t, std::size_t)>& bad, Cause cause = Cause::fault) {
  std::vector<VoteNic> nics;
  for (std::size_t nic = 0; nic < kNics; ++nic) nics.push_back({nic, leaf_of(nic)});
  std::vector<VoteEdge> edges;
  for (std::size_t from = 0; from < kNics; ++from)
    for (const std::size_t step : {1U, 9U, 21U, 38U}) {
      const std::size_t to = (from + step) % kNics;
      edges.push_back({from, to, 1, bad(from, to)});
    }
  return vote(nics, edges, cause);
}

bool touches(std::size_t from, std::size_t to, std::size_t nic) { return from == nic || to == nic; }
bool touches_leaf(std::size_t from, std::size_t to, std::size_t leaf) {
  return leaf_of(from) == leaf || leaf_of(to) == leaf;
}

TEST(Vote, BlamesNobodyWhereAllIsWell) {
  const Verdict verdict = verdict_of([](auto, auto) { return false; });
  EXPECT_TRUE(verdict.blamed.empty());
  EXPECT_TRUE(verdict.unexplained.empty());
}

TEST(Vote, BlamesTheNicOnAllBadPaths) {
  const Verdict verdict = verdict_of([](auto from, auto to) { return touches(from, to, 5); });
  ASSERT_EQ(verdict.blamed.size(), 1U);
  EXPECT_EQ(verdict.blamed[0].part, Part::nic);
  EXPECT_EQ(verdict.blamed[0].index, 5U);
  EXPECT_EQ(verdict.blamed[0].share(), 1);
}

TEST(Vote, BlamesALeafAndNoneOfItsNics) {
  const Verdict verdict = verdict_of([](auto from, auto to) { return touches_leaf(from, to, 2); });
  ASSERT_EQ(verdict.blamed.size(), 1U);
  EXPECT_EQ(verdict.blamed[0].part, Part::leaf);
  EXPECT_EQ(verdict.blamed[0].index, 2U);
}

TEST(Vote, BlamesUplinksThatLoseEveryThirdPath) {
  std::size_t n = 0;
  const Verdict verdict = verdict_of(
      [&n](auto from, auto to) { return (leaf_of(from) == 1) != (leaf_of(to) == 1) && n++ % 3 == 0; });
  ASSERT_EQ(verdict.blamed.size(), 1U);
  EXPECT_EQ(verdict.blamed[0].part, Part::uplinks);
  EXPECT_EQ(verdict.blamed[0].index, 1U);
}

TEST(Vote, FindsADeadNicBelowBadUplinks) {
  std::size_t n = 0;
  const Verdict verdict = verdict_of([&n](auto from, auto to) {
    const bool uplinks = (leaf_of(from) == 1) != (leaf_of(to) == 1) && n++ % 5 == 0;
    return uplinks || touches(from, to, 20);
  });
  ASSERT_EQ(verdict.blamed.size(), 2U);
  EXPECT_EQ(verdict.blamed[0].part, Part::nic);
  EXPECT_EQ(verdict.blamed[0].index, 20U);
  EXPECT_EQ(verdict.blamed[1].part, Part::uplinks);
}

TEST(Vote, TakesWhatIsBadOneWayForTheProber) {
  const Verdict verdict = verdict_of([](auto from, auto /*to*/) { return from == 7; });
  EXPECT_TRUE(verdict.blamed.empty());
  EXPECT_EQ(verdict.noisy, std::vector<std::size_t>{7});
  EXPECT_TRUE(verdict.unexplained.empty());
}

// On four rails, so that a host is probed by some that are not of the job.
TEST(Vote, TakesNoJobWhoseHostsAreBusyTogetherForALeaf) {
  constexpr std::size_t kRails = 4;
  constexpr std::size_t kJob = 40;
  std::vector<VoteNic> nics;
  for (std::size_t nic = 0; nic < kRails * kNics; ++nic)
    nics.push_back({nic / kRails, leaf_of(nic / kRails) * kRails + nic % kRails});
  std::vector<VoteEdge> edges;
  for (std::size_t from = 0; from < nics.size(); ++from)
    for (const std::size_t step : {1U, 9U, 21U, 38U}) {
      const std::size_t to = (nics[from].host + step + from % kRails * 5) % kNics * kRails + from % kRails;
      edges.push_back({from, to, 1, nics[from].host < kJob});
    }
  const Verdict verdict = vote(nics, edges);
  EXPECT_TRUE(verdict.blamed.empty());
  EXPECT_EQ(verdict.noisy.size(), kJob) << "two leaves and a half";
}

TEST(Vote, BlamesNoUplinksForWhatIsBadOneWayOnly) {
  std::size_t n = 0;
  const Verdict verdict =
      verdict_of([&n](auto from, auto /*to*/) { return leaf_of(from) == 2 && n++ % 2 == 0; });
  EXPECT_TRUE(verdict.blamed.empty());
  EXPECT_EQ(verdict.unexplained.size(), 32U);
}

TEST(Vote, BlamesNobodyForWhatAllHaveUnderLoad) {
  std::size_t n = 0;
  const auto all = [&n](auto /*from*/, auto /*to*/) { return n++ * 7 % 10 < 8; };
  EXPECT_TRUE(verdict_of(all, Cause::maybe_load).blamed.empty());
  n = 0;
  EXPECT_FALSE(verdict_of(all, Cause::fault).blamed.empty()) << "what fails is no load";
}

TEST(Vote, BlamesWhatIsWorseThanTheRestUnderLoad) {
  std::size_t n = 0;
  const Verdict verdict = verdict_of(
      [&n](auto from, auto to) { return touches(from, to, 5) || n++ % 20 == 0; }, Cause::maybe_load);
  ASSERT_EQ(verdict.blamed.size(), 1U);
  EXPECT_EQ(verdict.blamed[0].part, Part::nic);
  EXPECT_EQ(verdict.blamed[0].index, 5U);
}

// 256 hosts on four rails, 16 per leaf. Those of the second leaf of each rail are the same hosts.
Verdict verdict_of_rails(const std::function<bool(std::size_t rail, std::size_t from, std::size_t to)>& bad) {
  constexpr std::size_t kRails = 4;
  constexpr std::size_t kHosts = 256;
  std::vector<VoteNic> nics;
  for (std::size_t nic = 0; nic < kRails * kHosts; ++nic)
    nics.push_back({nic % kHosts, nic / kHosts * (kHosts / kPerLeaf) + leaf_of(nic % kHosts)});
  std::vector<VoteEdge> edges;
  for (std::size_t rail = 0; rail < kRails; ++rail)
    for (std::size_t from = 0; from < kHosts; ++from)
      for (const std::size_t step : {1U, 21U, 38U, 85U}) {
        const std::size_t to = (from + step) % kHosts;
        edges.push_back({rail * kHosts + from, rail * kHosts + to, 1, bad(rail, from, to)});
      }
  return vote(nics, edges, Cause::maybe_load);
}

TEST(Vote, BlamesNoUplinksWhoseHostsAreAsBadOnOtherRails) {
  const auto blamed_uplinks = [](std::size_t bad_rails) {
    std::size_t n = 0;
    const Verdict verdict = verdict_of_rails([&](auto rail, auto from, auto to) {
      return rail < bad_rails && (leaf_of(from) == 1) != (leaf_of(to) == 1) && n++ % 4 == 0;
    });
    return std::count_if(verdict.blamed.begin(), verdict.blamed.end(),
                         [](const auto& blamed) { return blamed.part == Part::uplinks; });
  };
  EXPECT_EQ(blamed_uplinks(1), 1);
  EXPECT_EQ(blamed_uplinks(4), 0);
}

TEST(Vote, LeavesSinglePathsUnexplained) {
  const Verdict verdict = verdict_of([](auto from, auto to) { return from == 3 && to == 4; });
  EXPECT_TRUE(verdict.blamed.empty());
  EXPECT_EQ(verdict.unexplained.size(), 1U);
}

}  // namespace
}  // namespace rdma_exporter::fleet
