// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/counters/counter_set.h"

#include <gtest/gtest.h>

#include <array>
#include <map>

namespace rdma_exporter::collectors {
namespace {

using core::MetricDesc;
using core::MetricType;

constexpr MetricDesc kBytes{
    "rdma_t_bytes_total", MetricType::counter, "device,direction", "bytes", "Bytes", "test"};
constexpr MetricDesc kCnp{"rdma_t_cnp_total", MetricType::counter, "device", "", "CNPs", "test"};
constexpr MetricDesc kIgnored{"rdma_t_ignored_total", MetricType::counter, "device", "", "CNPs", "test"};
constexpr MetricDesc kSeconds{
    "rdma_t_seconds_total", MetricType::counter, "device", "seconds", "Time", "test"};
constexpr MetricDesc kRaw{"rdma_t_raw_total", MetricType::counter, "device,counter", "", "Raw", "test"};
constexpr MetricDesc kRawValue{"rdma_t_raw_value", MetricType::gauge, "device,counter", "", "Raw", "test"};
constexpr MetricDesc kSaturated{"rdma_t_saturated", MetricType::gauge, "device,counter", "", "Stuck", "test"};

constexpr std::array kRows{
    CounterRow{"data", &kBytes, "direction=\"rx\"", 4},
    CounterRow{"handled", &kCnp},
    CounterRow{"ignored", &kCnp},
    CounterRow{"ignored", &kIgnored},
    CounterRow{"narrow", nullptr, {}, 1, 32},
    CounterRow{"tiny", nullptr, {}, 1, 4},
    CounterRow{"us", &kSeconds, {}, 1, 64, 1'000'000},
};

using Values = std::map<std::string, double>;

class CounterSetTest : public ::testing::Test {
 protected:
  CounterRules rules_{.rows = kRows, .raw_counter = &kRaw, .raw_value = &kRawValue};

  static Values collect(CounterSet& set, const std::map<std::string, std::uint64_t>& values) {
    for (std::size_t i = 0; i < set.names().size(); ++i) {
      const auto it = values.find(set.names()[i]);
      if (it != values.end()) set.put(i, it->second);
    }
    core::JobRun run(1);
    set.emit(run);
    Values out;
    for (const core::Sample& sample : run.samples().samples()) {
      std::string key(sample.metric->name);
      key.append("{").append(sample.labels()).append("}");
      EXPECT_FALSE(out.contains(key)) << "twice: " << key;
      out[key] = sample.is_real ? sample.real : static_cast<double>(sample.integer);
    }
    dropped_.clear();
    for (const auto& [reason, n] : run.dropped()) dropped_[std::string(reason)] += n;
    return out;
  }
  static inline std::map<std::string, std::uint64_t> dropped_;
};

TEST_F(CounterSetTest, ScalesCuratedCountersAndPassesOthersThrough) {
  CounterSet set(rules_, "device=\"d\"");
  set.set_names({"data", "unknown"});
  EXPECT_EQ(collect(set, {{"data", 10}, {"unknown", 3}}),
            (Values{{"rdma_t_bytes_total{device=\"d\",direction=\"rx\"}", 40},
                    {"rdma_t_raw_total{device=\"d\",counter=\"unknown\"}", 3}}));
}

TEST_F(CounterSetTest, DividesToBaseUnitsWithoutLosingParts) {
  CounterSet set(rules_, "device=\"d\"");
  set.set_names({"us"});
  EXPECT_EQ(collect(set, {{"us", 1}}), (Values{{"rdma_t_seconds_total{device=\"d\"}", 0.000001}}));
  EXPECT_EQ(collect(set, {{"us", 1'500'000}}).begin()->second, 1.5);
}

TEST_F(CounterSetTest, PutsCuratedSeriesFirstSoThatALimitTakesRawOnes) {
  CounterSet set(rules_, "device=\"d\"");
  set.set_names({"unknown", "data"});
  set.put(0, 1);
  set.put(1, 1);
  core::JobRun run(1);
  set.emit(run);
  EXPECT_EQ(run.samples().samples().front().metric, &kBytes);
}

TEST_F(CounterSetTest, EmitsNothingForWhatWasNotRead) {
  CounterSet set(rules_, "device=\"d\"");
  set.set_names({"data", "unknown"});
  EXPECT_EQ(collect(set, {{"unknown", 3}}).size(), 1U);
  EXPECT_TRUE(collect(set, {}).empty()) << "the value of an earlier cycle must not stay";
}

TEST_F(CounterSetTest, AddsUpASumOnlyWhenAllItsCountersWereRead) {
  CounterSet set(rules_, "device=\"d\"");
  set.set_names({"handled", "ignored"});
  EXPECT_EQ(collect(set, {{"handled", 5}, {"ignored", 2}}),
            (Values{{"rdma_t_cnp_total{device=\"d\"}", 7}, {"rdma_t_ignored_total{device=\"d\"}", 2}}));
  EXPECT_TRUE(collect(set, {{"handled", 5}}).empty());
}

TEST_F(CounterSetTest, ExportsTheCountersOfASumRawWhereTheSourceLacksOne) {
  CounterSet set(rules_, "device=\"d\"");
  set.set_names({"handled"});
  EXPECT_EQ(collect(set, {{"handled", 5}}),
            (Values{{"rdma_t_raw_total{device=\"d\",counter=\"handled\"}", 5}}));
}

TEST_F(CounterSetTest, ObeysTheRawPolicy) {
  rules_.raw = RawPolicy::all;
  CounterSet all(rules_, "device=\"d\"");
  all.set_names({"data", "unknown"});
  EXPECT_EQ(collect(all, {{"data", 10}, {"unknown", 3}}),
            (Values{{"rdma_t_bytes_total{device=\"d\",direction=\"rx\"}", 40},
                    {"rdma_t_raw_total{device=\"d\",counter=\"data\"}", 10},
                    {"rdma_t_raw_total{device=\"d\",counter=\"unknown\"}", 3}}));
  rules_.raw = RawPolicy::none;
  CounterSet none(rules_, "device=\"d\"");
  none.set_names({"data", "unknown"});
  EXPECT_EQ(collect(none, {{"data", 10}, {"unknown", 3}}).size(), 1U);
}

TEST_F(CounterSetTest, PutsKnownGaugesIntoTheValueFamily) {
  rules_.driver = host::Driver::bnxt_re;
  CounterSet set(rules_, "device=\"d\"");
  set.set_names({"active_qps"});
  EXPECT_EQ(collect(set, {{"active_qps", 3}}),
            (Values{{"rdma_t_raw_value{device=\"d\",counter=\"active_qps\"}", 3}}));
}

TEST_F(CounterSetTest, ContinuesA32BitCounterBeyondItsWidth) {
  rules_.unwrap = true;
  const std::string key = "rdma_t_raw_total{device=\"d\",counter=\"narrow\"}";
  CounterSet set(rules_, "device=\"d\"");
  set.set_names({"narrow"});
  EXPECT_EQ(collect(set, {{"narrow", 4294967290}})[key], 4294967290.0);
  EXPECT_EQ(collect(set, {{"narrow", 5}})[key], 4294967301.0);
  EXPECT_EQ(collect(set, {{"narrow", 4294967290}})[key], 8589934586.0);
  EXPECT_EQ(collect(set, {{"narrow", 1}})[key], 8589934593.0);
}

TEST_F(CounterSetTest, KeepsTheContinuationWhenOtherNamesComeAndGo) {
  rules_.unwrap = true;
  CounterSet set(rules_, "device=\"d\"");
  set.set_names({"narrow"});
  collect(set, {{"narrow", 4294967290}});
  collect(set, {{"narrow", 5}});
  set.set_names({"added", "narrow"});
  EXPECT_EQ(collect(set, {{"narrow", 6}})["rdma_t_raw_total{device=\"d\",counter=\"narrow\"}"], 4294967302.0);
}

TEST_F(CounterSetTest, ShowsAResetAsAReset) {
  rules_.unwrap = true;
  const std::string key = "rdma_t_raw_total{device=\"d\",counter=\"narrow\"}";
  CounterSet set(rules_, "device=\"d\"");
  set.set_names({"narrow"});
  collect(set, {{"narrow", 1000}});
  EXPECT_EQ(collect(set, {{"narrow", 5}})[key], 5.0) << "1000 to 5 is no wrap";
}

TEST_F(CounterSetTest, ShowsAResetBehindAWrapAsAReset) {
  rules_.unwrap = true;
  const std::string key = "rdma_t_raw_total{device=\"d\",counter=\"narrow\"}";
  CounterSet set(rules_, "device=\"d\"");
  set.set_names({"narrow"});
  collect(set, {{"narrow", 4294967290}});
  EXPECT_EQ(collect(set, {{"narrow", 1000}})[key], 4294968296.0);
  EXPECT_EQ(collect(set, {{"narrow", 5}})[key], 5.0);
  EXPECT_EQ(collect(set, {{"narrow", 6}})[key], 6.0);
}

// The highest value of a field of 32 bits is one before the wrap.
TEST_F(CounterSetTest, TellsAWrapFromAResetAtHalfOfTheWidth) {
  rules_.unwrap = true;
  const std::string key = "rdma_t_raw_total{device=\"d\",counter=\"narrow\"}";
  constexpr std::uint64_t kHalf = std::uint64_t{1} << 31U;
  CounterSet set(rules_, "device=\"d\"");
  set.set_names({"narrow"});
  collect(set, {{"narrow", kHalf}});
  EXPECT_EQ(collect(set, {{"narrow", 0}})[key], 0.0);
  collect(set, {{"narrow", kHalf + 1}});
  EXPECT_EQ(collect(set, {{"narrow", 0}})[key], 4294967296.0);
}

TEST_F(CounterSetTest, LeavesCountersAloneThatTheKernelKeepsAt64Bits) {
  CounterSet set(rules_, "device=\"d\"");
  set.set_names({"narrow"});
  collect(set, {{"narrow", 4294967290}});
  EXPECT_EQ(collect(set, {{"narrow", 5}})["rdma_t_raw_total{device=\"d\",counter=\"narrow\"}"], 5.0);
}

TEST_F(CounterSetTest, SaysWhenAFieldSticksAtItsMaximum) {
  rules_.saturated = &kSaturated;
  const std::string key = "rdma_t_saturated{device=\"d\",counter=\"tiny\"}";
  CounterSet set(rules_, "device=\"d\"");
  set.set_names({"data", "tiny"});
  EXPECT_EQ(collect(set, {{"data", 1}, {"tiny", 14}})[key], 0.0);
  EXPECT_EQ(collect(set, {{"data", 1}, {"tiny", 15}})[key], 1.0);
  EXPECT_FALSE(collect(set, {{"data", 1}}).contains(key)) << "not read, not known";
}

TEST_F(CounterSetTest, DropsWhatWouldBeTheSameSeriesTwice) {
  CounterSet set(rules_, "device=\"d\"");
  set.set_names({"x\\xff", "x\xff"});
  EXPECT_EQ(collect(set, {{"x\\xff", 1}, {"x\xff", 2}}).size(), 1U);
  EXPECT_EQ(dropped_["duplicate"], 1U);
}

// Sources with the same rules share them.
TEST_F(CounterSetTest, HasTheRulesOfItsOwnTable) {
  constexpr std::array kByteRows{CounterRow{"n", &kBytes}};
  constexpr std::array kCnpRows{CounterRow{"n", &kCnp}};
  CounterSet first({.rows = kByteRows, .raw_counter = &kRaw}, "device=\"d\"");
  CounterSet second({.rows = kCnpRows, .raw_counter = &kRaw}, "device=\"d\"");
  for (CounterSet* set : {&first, &second}) set->set_names({"n"});
  EXPECT_EQ(collect(first, {{"n", 1}}), (Values{{"rdma_t_bytes_total{device=\"d\"}", 1}}));
  EXPECT_EQ(collect(second, {{"n", 2}}), (Values{{"rdma_t_cnp_total{device=\"d\"}", 2}}));
}

TEST_F(CounterSetTest, GoesOverToFloatingPointWhereAScaledValueExceeds64Bits) {
  CounterSet set(rules_, "device=\"d\"");
  set.set_names({"data"});
  EXPECT_DOUBLE_EQ(collect(set, {{"data", 1ULL << 63}}).begin()->second, 4.0 * 9223372036854775808.0);
}

}  // namespace
}  // namespace rdma_exporter::collectors
