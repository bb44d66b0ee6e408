// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "doctor/words/counter_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "doctor/checks/checks.h"

namespace rdma_exporter::doctor {
namespace {

using testing::HasSubstr;

CounterFacts pfc(const char* metric, const char* direction, double total, double moved) {
  const std::string labels =
      std::string("device=\"mlx5_0\",port=\"1\",netdev=\"cx0\",priority=\"3\",direction=\"") + direction +
      "\"";
  return {metric, labels, "mlx5_0", "1", "cx0", total, moved};
}

std::string said(const std::vector<CounterFacts>& counters, double seconds) {
  std::vector<const CounterFacts*> list;
  for (const CounterFacts& counter : counters) list.push_back(&counter);
  return clauses_of(list, seconds);
}

TEST(CounterWords, SayWhoPausesWhomAndForHowLong) {
  EXPECT_EQ(
      said({pfc("rdma_pfc_frames_total", "tx", 5e6, 225'000), pfc("rdma_pfc_frames_total", "rx", 3e6, 3e6),
            pfc("rdma_pfc_pause_seconds_total", "rx", 90, 51.75)},
           225),
      "priority 3 was paused 23 % of the last 225 s; this host sent 1,000 pause frames per second "
      "for priority 3");
}

TEST(CounterWords, FramesThatCameInAreSaidWhereNobodyCountsTheTime) {
  EXPECT_EQ(said({pfc("rdma_pfc_frames_total", "rx", 900, 500)}, 10),
            "this host received 50 pause frames per second for priority 3");
}

TEST(CounterWords, SlowOnesAreSaidAsTheyWereCounted) {
  const CounterFacts counter{
      "rdma_netdev_link_down_events_total", "netdev=\"cx0\"", "mlx5_0", "1", "cx0", 1193, 2};
  EXPECT_EQ(clause_of(counter, 225), "the link went down 2 times in the last 225 s");
}

TEST(CounterWords, WhatDoesNotMoveWasCountedAtSomeTime) {
  const CounterFacts counter{"rdma_port_retries_exceeded_total",
                             "device=\"mlx5_0\",port=\"1\",kind=\"transport\"",
                             "mlx5_0",
                             "1",
                             "",
                             1019,
                             0};
  for (const double seconds : {0.0, 30.0})
    EXPECT_EQ(
        clause_of(counter, seconds),
        "1,019 connections were lost since the driver was loaded because retries were exceeded (transport)");
}

TEST(CounterWords, LabelsWithoutAWordOfTheirOwnAreRemarks) {
  CounterFacts counter{
      "rdma_netdev_pause_storm_events_total", "netdev=\"cx0\",level=\"warning\"", "", "", "", 72, 72};
  EXPECT_EQ(clause_of(counter, 225),
            "the adapter reported 72 pause storms in the last 225 s (level warning)");
  counter = {"rdma_port_retries_exceeded_total", "device=\"a\",port=\"1\",kind=\"rnr\"", "a", "1", "", 3, 0};
  EXPECT_EQ(clause_of(counter, 225),
            "3 connections were lost since the driver was loaded because retries were exceeded (RNR)");
}

TEST(CounterWords, WhatMovesComesFirst) {
  const CounterFacts old{"rdma_netdev_link_down_events_total", "", "mlx5_0", "1", "", 7, 0};
  const CounterFacts now{"rdma_port_ack_timeouts_total", "", "mlx5_0", "1", "", 40, 20};
  EXPECT_EQ(
      said({old, now}, 2),
      "10 acknowledgements per second timed out; the link went down 7 times since the driver was loaded");
}

TEST(CounterWords, NumbersAreReadable) {
  EXPECT_EQ(grouped_number(1234567), "1,234,567");
  EXPECT_EQ(grouped_number(999), "999");
  EXPECT_EQ(grouped_number(0.25), "0.25");
  EXPECT_EQ(percent(0.231), "23 %");
  EXPECT_EQ(percent(0.0041), "0.41 %");
}

// A check of counters without words would tell a person the name of a series, or nothing.
TEST(CounterWords, ThereAreSomeForEachRuleOfTheChecks) {
  std::ifstream file(SOURCE_DIR "/src/doctor/checks/check_counters.cpp");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::size_t rules = 0;
  for (std::size_t at = text.find("\"rdma_"); at != std::string::npos; at = text.find("\"rdma_", at + 1)) {
    const std::string metric = text.substr(at + 1, text.find('"', at + 1) - at - 1);
    EXPECT_NE(clause_of({metric, "", "d", "1", "", 1, 1.0}, 1), "") << metric;
    ++rules;
  }
  EXPECT_GT(rules, 20U);
}

}  // namespace
}  // namespace rdma_exporter::doctor
