// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "facts/fact_cache.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace rdma_exporter::facts {
namespace {

using namespace std::chrono_literals;

class FactsCached : public ::testing::Test {
 protected:
  int ask(Clock::duration at, Clock::duration max_age) {
    return *cached_.get({start_ + at, max_age}, [this] { return ++readings_; });
  }

  const Clock::time_point start_ = Clock::now();
  int readings_ = 0;
  Cached<int> cached_;
};

TEST_F(FactsCached, IsReadByWhoFindsItTooOld) {
  EXPECT_EQ(ask(0s, 1h), 1) << "nobody has read it";
  EXPECT_EQ(ask(30s, 30s), 1);
  EXPECT_EQ(ask(31s, 30s), 2);
  EXPECT_EQ(ask(32s, 0s), 3);
  EXPECT_EQ(ask(32s, 0s), 3) << "read at the same time";
}

TEST_F(FactsCached, StaysIfItCannotBeReadAgain) {
  ask(0s, 0s);
  const auto fail = []() -> int { throw std::runtime_error("out of memory"); };
  EXPECT_THROW(cached_.get({start_ + 60s, 0s}, fail), std::runtime_error);
  EXPECT_EQ(ask(60s, 60s), 1);
}

TEST_F(FactsCached, KeepsWhatItsOwnerHasLearnedOtherwise) {
  cached_.put(70, start_ + 10s);
  EXPECT_EQ(ask(15s, 5s), 70);
  EXPECT_EQ(ask(16s, 5s), 1);
}

TEST(FactsWanted, AcceptsOlderFactsUnlessSomethingHasChanged) {
  EXPECT_EQ((Wanted{{}, 30s}.or_older(5min).max_age), 5min);
  EXPECT_EQ((Wanted{{}, 30s, true}.or_older(5min).max_age), 30s);
}

}  // namespace
}  // namespace rdma_exporter::facts
