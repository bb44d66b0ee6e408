// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "task/background_value.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <new>
#include <optional>

#include "task/pool.h"
#include "tests/unit/support/scripted_background.h"

namespace rdma_exporter::task {
namespace {

using namespace std::chrono_literals;

const Clock::time_point kStart{1h};

class BackgroundValueTest : public testing::Test {
 protected:
  BackgroundValueTest() { background_.at_once = false; }

  void read(Clock::time_point now, int value) {
    value_.read_if_due(
        now, [value] { return std::make_shared<const int>(value); }, [this] { ++ended_; });
  }

  test::ScriptedBackground background_;
  BackgroundValue<int> value_{background_, Schedule(60s), "a test was not read"};
  int ended_ = 0;
};

TEST_F(BackgroundValueTest, KeepsTheLastGoodResultAndSinceWhenItIsKnown) {
  EXPECT_EQ(value_.latest().value, nullptr);
  read(kStart, 1);
  EXPECT_EQ(value_.latest().value, nullptr) << "the pass has not run";
  background_.run();
  EXPECT_EQ(*value_.latest().value, 1);
  EXPECT_EQ(value_.latest().read_at, kStart);
  EXPECT_EQ(ended_, 1);
}

TEST_F(BackgroundValueTest, HasOnePassAtATimeAndLooksAfterIt) {
  read(kStart, 1);
  read(kStart + 120s, 2);
  EXPECT_EQ(background_.started, 1);
  EXPECT_EQ(background_.tended, 1);
  EXPECT_EQ(value_.running_since(), kStart);
  background_.run();
  EXPECT_EQ(value_.running_since(), std::nullopt);
  read(kStart + 120s, 2);
  background_.run();
  EXPECT_EQ(*value_.latest().value, 2);
}

TEST_F(BackgroundValueTest, IsReadAsOftenAsItsScheduleSays) {
  read(kStart, 1);
  background_.run();
  read(kStart + 59s, 2);
  EXPECT_EQ(background_.started, 1);
  value_.reset();
  read(kStart + 59s, 2);
  EXPECT_EQ(background_.started, 2);
  background_.run();
  value_.postpone(kStart + 600s);
  read(kStart + 599s, 3);
  EXPECT_EQ(background_.started, 2);
}

TEST_F(BackgroundValueTest, KeepsWhatItHasWhenAPassFailsAndTriesAgain) {
  read(kStart, 1);
  background_.run();
  value_.read_if_due(kStart + 60s, []() -> std::shared_ptr<const int> { throw std::bad_alloc(); });
  background_.run();
  value_.read_if_due(kStart + 120s, []() -> std::shared_ptr<const int> { return nullptr; });
  background_.run();
  EXPECT_EQ(background_.started, 3);
  EXPECT_EQ(*value_.latest().value, 1);
  EXPECT_EQ(value_.latest().read_at, kStart) << "it has grown old";
}

class FullBackground : public Background {
 public:
  void start(std::function<void()>) override { throw std::bad_alloc(); }
  void tend() override {}
};

TEST_F(BackgroundValueTest, IsNotUnderWayWhenItsPassFoundNoMemoryToStart) {
  FullBackground full;
  BackgroundValue<int> value(full, Schedule(60s), "a test was not read");
  EXPECT_THROW(value.read_if_due(kStart, [] { return std::make_shared<const int>(1); }), std::bad_alloc);
  EXPECT_EQ(value.running_since(), std::nullopt);
}

TEST_F(BackgroundValueTest, LetsWhoWaitsSeeTheResult) {
  Pool pool(kBackgroundPool);
  BackgroundValue<int> value(pool, Schedule(60s), "a test was not read");
  value.read_if_due(kStart, [] { return std::make_shared<const int>(1); });
  ASSERT_TRUE(value.wait_until(Clock::now() + 20s));
  EXPECT_EQ(*value.latest().value, 1);
}

TEST_F(BackgroundValueTest, IsNotWaitedForLongerThanAsked) {
  read(kStart, 1);
  EXPECT_FALSE(value_.wait_until(Clock::now() + 1ms));
}

TEST_F(BackgroundValueTest, MayGoWhileItsPassIsUnderWay) {
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> seen = held;
  {
    BackgroundValue<int> value(background_, Schedule(60s), "a test was not read");
    value.read_if_due(kStart, [held = std::move(held)] { return std::make_shared<const int>(*held); });
  }
  EXPECT_FALSE(seen.expired());
  background_.run();
  EXPECT_TRUE(seen.expired());
}

}  // namespace
}  // namespace rdma_exporter::task
