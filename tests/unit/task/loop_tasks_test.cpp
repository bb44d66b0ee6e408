// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "task/loop_tasks.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <new>
#include <string>

#include "asio/asio.h"

namespace rdma_exporter::task {
namespace {

TEST(LoopTasks, TriesAJobAgainThatFoundNoMemory) {
  asio::io_context io;
  LoopTasks tasks(io, 1, 1);
  const auto tries = std::make_shared<std::atomic<int>>(0);
  bool finished = false;
  ASSERT_TRUE(tasks.submit([tries, &finished]() -> LoopTasks::Finish {
    if (++*tries < 3) throw std::bad_alloc();
    return [&finished] { finished = true; };
  }));
  const auto work = asio::make_work_guard(io);
  while (!finished) ASSERT_EQ(io.run_one_for(std::chrono::seconds(20)), 1U);
  EXPECT_EQ(*tries, 3);
}

TEST(LoopTasks, BoundsItsQueueAndFinishesOnTheIoThread) {
  asio::io_context io;
  LoopTasks tasks(io, 1, 1);
  std::promise<void> running;
  std::promise<void> release;
  std::string order;
  ASSERT_TRUE(tasks.submit([&]() -> LoopTasks::Finish {
    running.set_value();
    release.get_future().wait();
    return [&] { order += "first "; };
  }));
  running.get_future().wait();
  EXPECT_TRUE(tasks.submit([&]() -> LoopTasks::Finish { return [&] { order += "second "; }; }));
  EXPECT_FALSE(tasks.submit([]() -> LoopTasks::Finish { return [] {}; }));
  release.set_value();
  auto work = asio::make_work_guard(io);
  while (order != "first second ") ASSERT_GT(io.run_one_for(std::chrono::seconds(5)), 0U);
}

TEST(LoopTasks, IsNotWaitedForByWhoDestroysIt) {
  asio::io_context io;
  const auto release = std::make_shared<std::promise<void>>();
  const auto running = std::make_shared<std::promise<void>>();
  {
    LoopTasks tasks(io, 1, 1);
    ASSERT_TRUE(tasks.submit([release, running]() -> LoopTasks::Finish {
      running->set_value();
      release->get_future().wait();
      return [] { FAIL() << "its io_context may be gone"; };
    }));
    running->get_future().wait();
  }
  release->set_value();
  io.poll();
}

}  // namespace
}  // namespace rdma_exporter::task
