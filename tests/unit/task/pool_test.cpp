// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "task/pool.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <future>
#include <latch>
#include <memory>
#include <new>
#include <thread>
#include <vector>

namespace rdma_exporter::task {
namespace {

using namespace std::chrono_literals;

class Call : public Work {
 public:
  explicit Call(std::function<void()> call) : call_(std::move(call)) {}
  void execute() override { call_(); }

 private:
  std::function<void()> call_;
};

void submit(Pool& pool, std::function<void()> call, Taker taker = Taker::another_worker) {
  const std::shared_ptr<Work> work = std::make_shared<Call>(std::move(call));
  pool.submit({&work, 1}, taker);
}

template <typename Condition>
bool eventually(Condition condition) {
  for (int i = 0; i < 2000 && !condition(); ++i) std::this_thread::sleep_for(1ms);
  return condition();
}

TEST(Pool, DoesQuickWorkOnOneThread) {
  Pool pool({.max_workers = 8});
  std::atomic<int> done = 0;
  for (int i = 0; i < 100; ++i) submit(pool, [&] { ++done; });
  EXPECT_TRUE(eventually([&] { return done == 100; }));
  EXPECT_EQ(pool.stats().workers, 1U);
  EXPECT_TRUE(pool.stop(std::chrono::steady_clock::now() + 5s));
}

TEST(Pool, GoesOnAfterWorkThatFindsNoMemory) {
  Pool pool({.max_workers = 8});
  std::atomic<int> done = 0;
  for (int i = 0; i < 20; ++i)
    submit(pool, [&, i] {
      if (i % 2 == 0) throw std::bad_alloc();
      ++done;
    });
  EXPECT_TRUE(eventually([&] { return done == 10; }));
  EXPECT_EQ(pool.stats().workers, 1U);
  EXPECT_TRUE(pool.stop(std::chrono::steady_clock::now() + 5s));
}

TEST(Pool, ReplacesAStuckWorkerOnlyWhenWorkWaits) {
  Pool pool({.max_workers = 8});
  std::latch release(1);
  std::atomic<bool> stuck = false;
  submit(pool, [&] {
    stuck = true;
    release.wait();
  });
  ASSERT_TRUE(eventually([&] { return stuck.load(); }));
  pool.nudge();
  pool.nudge();
  EXPECT_EQ(pool.stats().workers, 1U) << "nothing waits";
  std::atomic<int> done = 0;
  submit(pool, [&] { ++done; });
  pool.nudge();
  EXPECT_TRUE(eventually([&] { return done == 1; }));
  EXPECT_EQ(pool.stats().workers, 2U);
  for (int i = 0; i < 50; ++i) {
    submit(pool, [&] { ++done; });
    ASSERT_TRUE(eventually([&] { return done == i + 2; }));
    pool.nudge();
  }
  EXPECT_EQ(pool.stats().workers, 2U) << "the second worker serves from now on";
  release.count_down();
  EXPECT_TRUE(pool.stop(std::chrono::steady_clock::now() + 5s));
}

class PoolOfTwo : public ::testing::Test {
 protected:
  PoolOfTwo() {
    std::latch both(2);
    for (int i = 0; i < 2; ++i) submit(pool_, [&both] { both.arrive_and_wait(); });
    EXPECT_TRUE(both_are_idle());
  }
  bool both_are_idle() {
    return eventually([&] { return pool_.stats().idle == 2; });
  }
  Pool pool_{{.max_workers = 2, .growth = Growth::at_once}};
};

TEST_F(PoolOfTwo, LeavesWorkToTheWorkerThatSubmitsIt) {
  for (int i = 0; i < 20; ++i) {
    std::promise<std::thread::id> first;
    std::promise<std::thread::id> second;
    submit(pool_, [&] {
      submit(
          pool_, [&] { second.set_value(std::this_thread::get_id()); }, Taker::this_worker);
      std::this_thread::sleep_for(1ms);  // time enough for somebody who was woken
      first.set_value(std::this_thread::get_id());
    });
    EXPECT_EQ(second.get_future().get(), first.get_future().get());
    ASSERT_TRUE(both_are_idle());
  }
}

TEST_F(PoolOfTwo, WakesAnotherWorkerWhenThatOneIsTooSlow) {
  std::latch release(1);
  std::atomic<bool> submitted = false;
  std::atomic<bool> done = false;
  submit(pool_, [&] {
    submit(
        pool_, [&] { done = true; }, Taker::this_worker);
    submitted = true;
    release.wait();
  });
  ASSERT_TRUE(eventually([&] { return submitted.load(); }));
  for (int i = 0; i < 2; ++i) pool_.nudge();  // work has been done before the first one
  EXPECT_TRUE(eventually([&] { return done.load(); }));
  release.count_down();
  EXPECT_TRUE(both_are_idle());
}

TEST(Pool, StopsAtItsLimitAndSaysSo) {
  Pool pool({.max_workers = 2});
  std::latch release(1);
  std::atomic<int> stuck = 0;
  for (int i = 0; i < 3; ++i) {
    submit(pool, [&] {
      ++stuck;
      release.wait();
    });
    pool.nudge();
    eventually([&] { return stuck == std::min(i + 1, 2); });
  }
  pool.nudge();
  EXPECT_EQ(pool.stats().workers, 2U);
  EXPECT_GE(pool.stats().limit_reached, 1U);
  release.count_down();
  EXPECT_TRUE(eventually([&] { return stuck == 3; }));
  EXPECT_TRUE(pool.stop(std::chrono::steady_clock::now() + 5s));
}

// Submits more work than there may be workers, and nudges until there are `wanted` of them.
bool grows_to(Pool& pool, std::latch& release, unsigned wanted) {
  for (unsigned i = 0; i < 2 * wanted; ++i) submit(pool, [&] { release.wait(); });
  return eventually([&] {
    pool.nudge();
    return pool.stats().workers == wanted;
  });
}

TEST(Pool, AddsNoWorkersBeyondTheProcessorsWhileTheyCompute) {
  const unsigned processors = std::max(std::thread::hardware_concurrency(), 1U);
  Pool pool(
      {.max_workers = 4 * processors, .waits_in_kernel = [](pid_t) { return false; }, .stuck_after = 1h});
  std::latch release(1);
  EXPECT_TRUE(grows_to(pool, release, processors));
  for (int i = 0; i < 50; ++i) {
    pool.nudge();
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_EQ(pool.stats().workers, processors);
  EXPECT_EQ(pool.stats().limit_reached, 0U);
  release.count_down();
  EXPECT_TRUE(pool.stop(std::chrono::steady_clock::now() + 5s));
}

TEST(Pool, AddsWorkersForThoseThatWaitOrTakeTooLong) {
  const unsigned many = 4 * std::max(std::thread::hardware_concurrency(), 1U);
  for (const PoolOptions& options :
       {PoolOptions{.max_workers = many, .waits_in_kernel = [](pid_t) { return true; }, .stuck_after = 1h},
        PoolOptions{
            .max_workers = many, .waits_in_kernel = [](pid_t) { return false; }, .stuck_after = 1ms}}) {
    Pool pool(options);
    std::latch release(1);
    EXPECT_TRUE(grows_to(pool, release, many));
    release.count_down();
    EXPECT_TRUE(pool.stop(std::chrono::steady_clock::now() + 5s));
  }
}

TEST(Pool, SeesWhetherAThreadIsAsleep) {
  std::latch release(1);
  std::promise<pid_t> started;
  std::thread sleeper([&] {
    started.set_value(::gettid());
    release.wait();
  });
  const pid_t thread = started.get_future().get();
  EXPECT_TRUE(eventually([&] { return is_asleep(thread); }));
  EXPECT_FALSE(is_asleep(::gettid())) << "it runs, as it asks";
  EXPECT_TRUE(is_asleep(0)) << "there is none: where nothing can be read, no worker is withheld";
  release.count_down();
  sleeper.join();
}

TEST(Pool, SaysThatAWorkerIsStuckAtTheEnd) {
  auto release = std::make_shared<std::latch>(1);
  std::atomic<bool> stuck = false;
  Pool pool({.max_workers = 2});
  submit(pool, [&stuck, release] {
    stuck = true;
    release->wait();
  });
  ASSERT_TRUE(eventually([&] { return stuck.load(); }));
  EXPECT_FALSE(pool.stop(std::chrono::steady_clock::now() + 20ms));
  release->count_down();
  EXPECT_TRUE(pool.stop(std::chrono::steady_clock::now() + 5s));
}

TEST(Pool, ThatGrowsAtOnceLetsNoTaskWaitBehindOneThatIsStuck) {
  Pool pool({.max_workers = 3, .max_waiting = 1, .growth = Growth::at_once});
  std::latch release(1);
  std::atomic<int> stuck = 0;
  const auto hang = [&] {
    ++stuck;
    release.wait();
  };
  for (int i = 1; i <= 3; ++i) EXPECT_FALSE(pool.offer(hang));
  EXPECT_TRUE(eventually([&] { return stuck == 3; }));
  EXPECT_FALSE(pool.offer(hang)) << "it waits";
  EXPECT_TRUE(pool.offer(hang)) << "one too many";
  EXPECT_EQ(pool.stats().workers, 3U);
  release.count_down();
  EXPECT_TRUE(eventually([&] { return stuck == 4; }));
  EXPECT_TRUE(pool.stop(std::chrono::steady_clock::now() + 5s));
  EXPECT_TRUE(pool.offer([] {})) << "nobody would run it";
}

TEST(Pool, ThatGrowsAtOnceUsesWorkersThatAreFree) {
  Pool pool({.max_workers = 8, .growth = Growth::at_once});
  for (int i = 0; i < 50; ++i) {
    const auto done = std::make_shared<std::promise<void>>();
    ASSERT_FALSE(pool.offer([done] { done->set_value(); }));
    done->get_future().wait();
    ASSERT_TRUE(eventually([&] { return pool.stats().idle == pool.stats().workers; }));
  }
  EXPECT_EQ(pool.stats().workers, 1U);
}

TEST(Pool, FinishesWhatIsQueuedAndTakesNothingMore) {
  Pool pool({.max_workers = 2});
  std::atomic<int> done = 0;
  for (int i = 0; i < 100; ++i) submit(pool, [&] { ++done; });
  pool.finish();
  EXPECT_EQ(done, 100);
  EXPECT_EQ(pool.stats().workers, 0U);
  EXPECT_TRUE(pool.offer([] {}));
}

}  // namespace
}  // namespace rdma_exporter::task
