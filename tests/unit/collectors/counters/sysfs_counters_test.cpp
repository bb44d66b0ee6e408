// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/counters/sysfs_counters.h"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <map>

#include "tests/unit/support/temp_tree.h"
#include "tests/unit/support/watched_fs.h"

namespace rdma_exporter::collectors {
namespace {

constexpr core::MetricDesc kRaw{"rdma_t_raw_total", core::MetricType::counter, "counter", "", "Raw", "test"};

class SysfsCountersTest : public ::testing::Test {
 protected:
  using Values = std::map<std::string, std::uint64_t>;

  /// One collection, as rendered labels and value.
  Values read() {
    core::JobRun run(++cycle_, start_ + passed_);
    files_.read(counters_, run);
    counters_.emit(run);
    errors_.clear();
    for (const auto& [reason, n] : run.read_errors()) errors_[std::string(reason)] += n;
    Values values;
    for (const core::Sample& sample : run.samples().samples()) values[sample.labels()] = sample.integer;
    return values;
  }

  /// Longer than any file is left alone after failures.
  void pass_back_off() { passed_ += std::chrono::minutes(5); }

  test::TempTree tree_;
  test::WatchedFs* fs_ = new test::WatchedFs(host::make_host_fs(tree_.root()));
  host::Host host_{.sysfs = std::unique_ptr<host::HostFs>(fs_), .procfs = nullptr, .verbs = nullptr};
  SysfsCounters files_{host_, "d"};
  CounterSet counters_{CounterRules{.rows = {}, .raw_counter = &kRaw}, ""};
  std::map<std::string, std::uint64_t> errors_;
  core::JobRun::Clock::time_point start_ = core::JobRun::Clock::now();
  std::chrono::seconds passed_{0};
  std::uint64_t cycle_ = 0;
};

TEST_F(SysfsCountersTest, ReadsEveryFileButLifespan) {
  tree_.write("d/a", "1\n");
  tree_.write("d/b", "18446744073709551615\n");
  tree_.write("d/lifespan", "10\n");
  EXPECT_EQ(read(), (Values{{R"(counter="a")", 1}, {R"(counter="b")", 18446744073709551615ULL}}));
  EXPECT_EQ(fs_->opens["d/lifespan"], 0) << "a setting, not a counter";
}

// Each file of a RoCE port's counters/ is a firmware command on mlx5.
TEST_F(SysfsCountersTest, LeavesFilesUnreadThatNoServedFamilyNeeds) {
  constexpr core::MetricDesc kServed{"rdma_t_served_total", core::MetricType::counter, "", "", "S", "test"};
  constexpr core::MetricDesc kLeftOut{
      "rdma_t_left_out_total", core::MetricType::counter, "", "", "L", "test"};
  const std::array rows{CounterRow{.raw = "served", .metric = &kServed},
                        CounterRow{.raw = "left_out", .metric = &kLeftOut, .bits = 16}};
  counters_ = CounterSet{CounterRules{.rows = rows,
                                      .raw_counter = &kRaw,
                                      .saturated = &kRaw,
                                      .left_out =
                                          [](const core::MetricDesc& family) {
                                            return std::string_view(family.name) == "rdma_t_left_out_total";
                                          }},
                         ""};
  tree_.write("d/served", "1\n");
  tree_.write("d/left_out", "2\n");
  EXPECT_EQ(read(), (Values{{"", 1}}));
  EXPECT_EQ(fs_->opens["d/left_out"], 0);
}

TEST_F(SysfsCountersTest, ReadsTheValuesOfNow) {
  tree_.write("d/a", "1\n");
  read();
  tree_.write("d/a", "2\n");
  EXPECT_EQ(read(), (Values{{R"(counter="a")", 2}}));
}

TEST_F(SysfsCountersTest, TakesAMissingDirectoryForAbsence) {
  EXPECT_TRUE(read().empty());
  EXPECT_TRUE(errors_.empty());
}

TEST_F(SysfsCountersTest, CountsADirectoryThatCannotBeListed) {
  tree_.write("d/a", "1\n");
  fs_->failures["d"] = EACCES;
  EXPECT_TRUE(read().empty());
  EXPECT_EQ(errors_, (Values{{"EACCES", 1}}));
}

TEST_F(SysfsCountersTest, HasErrorsThatMeanAbsence) {
  for (const int absent : {EINVAL, ENOSYS, EOPNOTSUPP, ENOENT, ENODEV, ENODATA}) {
    tree_.write("d/a", "1\n");
    fs_->failures["d/a"] = absent;
    pass_back_off();
    EXPECT_TRUE(read().empty()) << absent;
    EXPECT_TRUE(errors_.empty()) << absent;
  }
}

TEST_F(SysfsCountersTest, CountsOtherErrorsByTheirName) {
  tree_.write("d/a", "1\n");
  tree_.write("d/b", "2\n");
  for (const auto& [error, name] : {std::pair{EIO, "EIO"}, {ETIMEDOUT, "ETIMEDOUT"}, {EACCES, "EACCES"}}) {
    pass_back_off();
    fs_->failures["d/a"] = error;
    EXPECT_EQ(read(), (Values{{R"(counter="b")", 2}}));
    EXPECT_EQ(errors_, (Values{{name, 1}}));
  }
}

TEST_F(SysfsCountersTest, CountsGarbage) {
  for (const char* garbage :
       {"", "\n", "-1\n", "1.5\n", "0x10\n", "18446744073709551616\n", "1 2\n", "one\n", "\xff"}) {
    tree_.write("d/a", garbage);
    pass_back_off();
    EXPECT_TRUE(read().empty()) << garbage;
    EXPECT_EQ(errors_, (Values{{"parse", 1}})) << garbage;
  }
  tree_.write("d/a", std::string(10'000'000, '1'));
  pass_back_off();
  EXPECT_TRUE(read().empty());
  EXPECT_EQ(errors_, (Values{{"too_long", 1}}));
}

TEST_F(SysfsCountersTest, KeepsNamesThatArePeculiar) {
  tree_.write("d/RcvHdrOvr,32 VL0", "5\n");
  tree_.write("d/a\"b\\c", "6\n");
  EXPECT_EQ(read(), (Values{{R"(counter="RcvHdrOvr,32 VL0")", 5}, {R"(counter="a\"b\\c")", 6}}));
}

TEST_F(SysfsCountersTest, TriesAFailingFileLessAndLessOften) {
  tree_.write("d/a", "1\n");
  tree_.write("d/good", "1\n");
  fs_->failures["d/a"] = EIO;
  for (int i = 0; i < 3; ++i) {
    read();
    EXPECT_EQ(errors_.size(), 1U);
  }
  EXPECT_EQ(read(), (Values{{R"(counter="good")", 1}}));
  EXPECT_TRUE(errors_.empty()) << "not tried within the second after its third failure";
  EXPECT_EQ(fs_->reads["d/a"], 3);
  int tries = 0;
  for (int second = 0; second < 600; ++second) {
    passed_ += std::chrono::seconds(1);
    read();
    tries += static_cast<int>(errors_.size());
  }
  EXPECT_GE(tries, 600 / 60) << "at least once a minute";
  EXPECT_LE(tries, 600 / 60 + 8) << "1, 2, 4 ... 60 seconds apart";
}

TEST_F(SysfsCountersTest, ForgetsFailuresOnSuccess) {
  tree_.write("d/a", "1\n");
  fs_->failures["d/a"] = EIO;
  for (int i = 0; i < 6; ++i) {
    read();
    passed_ += std::chrono::seconds(60);
  }
  fs_->failures.clear();
  EXPECT_EQ(read(), (Values{{R"(counter="a")", 1}}));
  fs_->failures["d/a"] = EIO;
  for (int i = 0; i < 3; ++i) {
    read();
    EXPECT_EQ(errors_.size(), 1U) << "has its patience again";
  }
}

TEST_F(SysfsCountersTest, FollowsFilesThatComeAndGo) {
  tree_.write("d/a", "1\n");
  tree_.write("d/b", "2\n");
  read();
  tree_.remove("d/a");
  tree_.write("d/c", "3\n");
  EXPECT_EQ(read(), (Values{{R"(counter="b")", 2}, {R"(counter="c")", 3}}));
}

TEST_F(SysfsCountersTest, TakesTheNamesBackThatAnotherSourceHasSet) {
  tree_.write("d/a", "1\n");
  tree_.write("d/b", "2\n");
  read();
  counters_.set_names({"b", "z", "a"});
  EXPECT_EQ(read(), (Values{{R"(counter="a")", 1}, {R"(counter="b")", 2}}));
}

}  // namespace
}  // namespace rdma_exporter::collectors
