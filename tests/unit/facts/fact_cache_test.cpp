// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "facts/fact_cache.h"

#include <gtest/gtest.h>

#include <latch>
#include <stdexcept>
#include <thread>

namespace rdma_exporter::facts {
namespace {

using namespace std::chrono_literals;

class FactsCached : public ::testing::Test {
 protected:
  int ask(Clock::duration at, Clock::duration max_age) {
    return *cached_.get({start_ + at, max_age}, [this](const int*) { return ++readings_; });
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
  const auto fail = [](const int*) -> int { throw std::runtime_error("out of memory"); };
  EXPECT_THROW(cached_.get({start_ + 60s, 0s}, fail), std::runtime_error);
  EXPECT_EQ(ask(60s, 60s), 1);
}

TEST_F(FactsCached, KeepsWhatItsOwnerHasLearnedOtherwise) {
  cached_.put(70, start_ + 10s);
  EXPECT_EQ(ask(15s, 5s), 70);
  EXPECT_EQ(ask(16s, 5s), 1);
}

TEST_F(FactsCached, KeepsItsPlaceInMemoryWhileNothingChanges) {
  cached_.put(70, start_);
  const auto none = [](const int*) -> int { throw std::logic_error("nobody has to read it"); };
  const auto before = cached_.get({start_, 0s}, none);
  cached_.put(70, start_ + 10s);
  EXPECT_EQ(cached_.get({start_ + 10s, 0s}, none), before);
  cached_.put(71, start_ + 20s);
  EXPECT_EQ(*before, 70) << "whoever holds it";
}

TEST_F(FactsCached, ShowsAReaderWhatWasReadBefore) {
  const auto next = [](const int* last) { return last ? *last + 1 : 10; };
  EXPECT_EQ(*cached_.get({start_, 0s}, next), 10);
  EXPECT_EQ(*cached_.get({start_ + 1s, 0s}, next), 11);
}

// The lock is not held while a fact is read, which may take long or need another fact.
TEST_F(FactsCached, HoldsUpOnlyWhoNeedsTheNewValue) {
  ask(0s, 0s);
  Cached<int> other;
  std::thread waiting;
  std::latch asks(1);
  const auto slow = [&](const int*) {
    EXPECT_EQ(*other.get({start_, 0s}, [](const int*) { return 5; }), 5);
    EXPECT_EQ(*cached_.known(), 1) << "the last value, at once";
    cached_.put(70, start_ + 2s);
    EXPECT_EQ(*cached_.known(), 1) << "what is read is at least as new";
    waiting = std::thread([&] {
      asks.count_down();
      EXPECT_EQ(ask(1s, 1s), 20) << "not read again";
    });
    asks.wait();
    std::this_thread::sleep_for(50ms);  // time for a wrong answer
    return 20;
  };
  EXPECT_EQ(*cached_.get({start_ + 2s, 1s}, slow), 20);
  waiting.join();
  EXPECT_EQ(readings_, 1);
}

TEST(FactsPortLink, IsTheSameIfItIsMissingForTheSameReason) {
  const PortLink down{1U, 2U};
  EXPECT_EQ(down, PortLink(down));
  EXPECT_NE(down, (PortLink{1U, 2U, core::LinkRate{50e9, 4}}));
  EXPECT_NE(down, (PortLink{1U, core::os_error(EIO)}));
  EXPECT_NE((PortLink{1U, core::os_error(EINVAL)}), (PortLink{1U, core::os_error(EIO)}));
}

TEST(FactsWanted, AcceptsOlderFactsUnlessSomethingHasChanged) {
  EXPECT_EQ((Wanted{{}, 30s}.or_older(5min).max_age), 5min);
  EXPECT_EQ((Wanted{{}, 30s, true}.or_older(5min).max_age), 30s);
}

}  // namespace
}  // namespace rdma_exporter::facts
