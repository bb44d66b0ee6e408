// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "commands/probe/tally.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <nlohmann/json.hpp>

namespace rdma_exporter::commands {
namespace {

using namespace std::chrono_literals;
using probe::Completion;
using probe::Failure;
using probe::Op;
using probe::Path;
using probe::Stage;

const Path kPath{"mlx5_0", 1, "far"};

// 1 to `count` us, the longest first.
Tally counted_down(int count) {
  Tally tally;
  for (int i = count; i > 0; --i) tally.success(i * 1us);
  return tally;
}

TEST(ProbeTally, QuantilesAreValuesThatWereSeen) {
  const auto sorted = counted_down(1000).sorted();
  EXPECT_EQ(quantile_of(sorted, 0.5), 500us);
  EXPECT_EQ(quantile_of(sorted, 0.99), 990us);
  EXPECT_EQ(quantile_of(sorted, 0.999), 999us);
  EXPECT_EQ(quantile_of(sorted, 1.0), 1000us);
  EXPECT_EQ(quantile_of({7us}, 0.001), 7us);
  EXPECT_EQ(quantile_of({}, 0.5), 0ns);
}

TEST(ProbeTally, KeepsTheLastOfThemAndTheExtremesOfAll) {
  Tally tally;
  tally.success(1s);
  for (std::size_t i = 0; i < Tally::kKept; ++i) tally.success(2us);
  tally.success(3us);
  const auto sorted = tally.sorted();
  ASSERT_EQ(sorted.size(), Tally::kKept);
  EXPECT_EQ(sorted.front(), 2us);
  EXPECT_EQ(sorted.back(), 3us) << "the first one is no longer among them";
  EXPECT_EQ(tally.most(), 1s);
  EXPECT_EQ(tally.least(), 2us);
  EXPECT_EQ(tally.successes(), Tally::kKept + 2);
}

TEST(ProbeTally, LinesSayWhatWhereAndHowLong) {
  EXPECT_EQ(success_line(kPath, Op::write, {.rtt = 12340ns}), "far from mlx5_0 port 1: write 12.3 us\n");
  EXPECT_EQ(success_line(kPath, Op::echo, {.rtt = 1234500ns, .peer_delay = 800ns}),
            "far from mlx5_0 port 1: echo 1.234 ms, of which 0.8 us in the peer's process\n");
  EXPECT_EQ(failure_line(kPath, Op::write, {Stage::op, "retry_exc_err"}),
            "far from mlx5_0 port 1: write failed: op retry_exc_err\n");
}

TEST(ProbeTally, RawLinesHaveTheFieldsOfTheHeader) {
  const auto fields = [](const std::string& line) { return std::count(line.begin(), line.end(), '\t'); };
  const std::string success =
      raw_line(1.5, kPath, Op::echo, Completion{.rtt = 5us, .peer_delay = 1us, .slept = true});
  EXPECT_EQ(success, "1.500000\tmlx5_0\t1\tfar\t0\techo\t5000\t1000\tevent\thost\t\n");
  const std::string failure = raw_line(1.5, kPath, Op::write, Failure{Stage::op, "retry_exc_err"});
  EXPECT_EQ(failure, "1.500000\tmlx5_0\t1\tfar\t0\twrite\t\t\t\t\top retry_exc_err\n");
  EXPECT_EQ(fields(success), fields(raw_header()));
  EXPECT_EQ(fields(failure), fields(raw_header()));
}

TEST(ProbeTally, SaysWhatTheAdaptersClockHasMeasuredAndMixesNoClocks) {
  const Completion by_nic{.rtt = 2100ns, .peer_delay = {}, .clock = probe::RttClock::nic};
  EXPECT_EQ(success_line(kPath, Op::read, by_nic),
            "far from mlx5_0 port 1: read 2.1 us by the adapter's clock\n");
  EXPECT_EQ(raw_line(1.5, kPath, Op::read, by_nic),
            "1.500000\tmlx5_0\t1\tfar\t0\tread\t2100\t\tspin\tnic\t\n");
  Tallies tallies;
  Tally& reads = tallies[kPath][Op::read];
  reads.success(2us, probe::RttClock::nic);
  EXPECT_NE(tallies_text(tallies).find("\nread (nic)        1        0    0.00%"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(tallies_json(tallies))["results"][0]["clock"], "nic");
  reads.success(9us);
  const auto result = nlohmann::json::parse(tallies_json(tallies))["results"][0];
  EXPECT_EQ(result["clock"], "host");
  EXPECT_EQ(result["rtt_seconds"]["min"], 9e-6) << "of the clock that is used now";
  EXPECT_EQ(result["probes"], 2);
}

TEST(ProbeTally, AnOperationThatNeverWorkedHasNoLatency) {
  Tallies tallies;
  tallies[kPath][Op::write].failure({Stage::op, "retry_exc_err"});
  tallies[kPath][Op::echo] = counted_down(4);
  const auto results = nlohmann::json::parse(tallies_json(tallies))["results"];
  ASSERT_EQ(results.size(), 2U);
  EXPECT_FALSE(results[0].contains("rtt_seconds"));
  EXPECT_EQ(results[0]["failures"]["op retry_exc_err"], 1);
  EXPECT_EQ(results[1]["rtt_seconds"]["p50"], 2e-6);
  EXPECT_NE(tallies_text(tallies).find("write             1        1  100.00%\necho "), std::string::npos);
  EXPECT_NE(tallies_text(tallies).find("write failed 1 times: op retry_exc_err\n"), std::string::npos);
}

}  // namespace
}  // namespace rdma_exporter::commands
