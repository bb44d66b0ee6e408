// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// A synthetic fleet: 64 hosts with four NICs each, each of which probes four others of its rail. A quarter of
// the hosts is busy, so that most probes that they send are late.
#include "fleet/findings/suspects.h"

#include <gtest/gtest.h>

#include <functional>

namespace rdma_exporter::fleet {
namespace {

constexpr std::size_t kRails = 4;
constexpr std::size_t kHosts = 64;
constexpr std::size_t kNic = 12 * kRails + 2;  // of a busy host; two busy and two idle ones probe it

bool busy(std::size_t host) { return host < kHosts / 4; }

struct Fleet {
  explicit Fleet(const std::function<bool(std::size_t from, std::size_t to)>& loses) {
    for (std::size_t nic = 0; nic < kRails * kHosts; ++nic) nics.push_back({nic / kRails, kNoLeaf});
    std::size_t n = 0;
    for (std::size_t from = 0; from < nics.size(); ++from)
      for (const std::size_t step : {1U, 9U, 21U, 38U}) {
        const std::size_t to = (from + step * kRails) % nics.size();
        const bool late = busy(nics[from].host) && ++n % 10 != 0;
        edges.push_back({from, to, 1, late || loses(from, to)});
      }
  }

  // Which NICs are blamed if `suspects` are.
  std::vector<std::size_t> blamed(const std::vector<std::size_t>& suspects) const {
    Verdict verdict = vote(nics, edges, Cause::maybe_load);
    blame_suspects(nics, edges, suspects, verdict);
    std::vector<std::size_t> all;
    for (const Blamed& one : verdict.blamed) all.push_back(one.index);
    return all;
  }

  std::vector<VoteNic> nics;
  std::vector<VoteEdge> edges;
};

bool touches(std::size_t from, std::size_t to) { return from == kNic || to == kNic; }

TEST(Suspects, AreBlamedAlsoWhereBusyHostsLeaveTooFewVotes) {
  const Fleet fleet(touches);
  EXPECT_EQ(fleet.blamed({}), std::vector<std::size_t>{}) << "two votes are too few";
  EXPECT_EQ(fleet.blamed({kNic}), std::vector<std::size_t>{kNic});
}

TEST(Suspects, AreNotBlamedForWhatTheirHostDoesOnAllRails) {
  const Fleet fleet([](auto, auto) { return false; });
  EXPECT_EQ(fleet.blamed({kNic}), std::vector<std::size_t>{});
}

TEST(Suspects, AreNotBlamedForPathsThatAreBadOneWay) {
  constexpr std::size_t kIdle = 40 * kRails;
  const Fleet fleet([](auto from, auto) { return from == kIdle; });
  EXPECT_EQ(fleet.blamed({kIdle}), std::vector<std::size_t>{});
}

TEST(Suspects, AreNotBlamedForWhatTheirHostIsBlamedFor) {
  constexpr std::size_t kHost = 40;
  const Fleet fleet([](auto from, auto to) { return from / kRails == kHost || to / kRails == kHost; });
  EXPECT_EQ(fleet.blamed({kHost * kRails}), std::vector<std::size_t>{kHost});
}

TEST(Suspects, TakeTheirPathsFromTheUnexplained) {
  const Fleet fleet(touches);
  Verdict verdict = vote(fleet.nics, fleet.edges, Cause::maybe_load);
  EXPECT_FALSE(verdict.unexplained.empty());
  blame_suspects(fleet.nics, fleet.edges, {kNic}, verdict);
  EXPECT_TRUE(verdict.unexplained.empty());
}

}  // namespace
}  // namespace rdma_exporter::fleet
