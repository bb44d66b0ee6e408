// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "scrape/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <latch>
#include <new>
#include <thread>
#include <vector>

namespace rdma_exporter::scrape {
namespace {

using namespace std::chrono_literals;

class Call : public Work {
 public:
  explicit Call(std::function<void()> call) : call_(std::move(call)) {}
  void execute() override { call_(); }

 private:
  std::function<void()> call_;
};

void submit(WorkerPool& pool, std::function<void()> call) {
  const std::shared_ptr<Work> work = std::make_shared<Call>(std::move(call));
  pool.submit({&work, 1});
}

template <typename Condition>
bool eventually(Condition condition) {
  for (int i = 0; i < 2000 && !condition(); ++i) std::this_thread::sleep_for(1ms);
  return condition();
}

TEST(WorkerPool, DoesQuickWorkOnOneThread) {
  WorkerPool pool(8);
  std::atomic<int> done = 0;
  for (int i = 0; i < 100; ++i) submit(pool, [&] { ++done; });
  EXPECT_TRUE(eventually([&] { return done == 100; }));
  EXPECT_EQ(pool.stats().workers, 1U);
  EXPECT_TRUE(pool.stop(std::chrono::steady_clock::now() + 5s));
}

TEST(WorkerPool, GoesOnAfterWorkThatFindsNoMemory) {
  WorkerPool pool(8);
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

TEST(WorkerPool, ReplacesAStuckWorkerOnlyWhenWorkWaits) {
  WorkerPool pool(8);
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

TEST(WorkerPool, StopsAtItsLimitAndSaysSo) {
  WorkerPool pool(2);
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

TEST(WorkerPool, SaysThatAWorkerIsStuckAtTheEnd) {
  auto release = std::make_shared<std::latch>(1);
  std::atomic<bool> stuck = false;
  WorkerPool pool(2);
  submit(pool, [&stuck, release] {
    stuck = true;
    release->wait();
  });
  ASSERT_TRUE(eventually([&] { return stuck.load(); }));
  EXPECT_FALSE(pool.stop(std::chrono::steady_clock::now() + 20ms));
  release->count_down();
  EXPECT_TRUE(pool.stop(std::chrono::steady_clock::now() + 5s));
}

}  // namespace
}  // namespace rdma_exporter::scrape
