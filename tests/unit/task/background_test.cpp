// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "task/background.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <thread>

#include "task/pool.h"
#include "task/schedule.h"

namespace rdma_exporter::task {
namespace {

using namespace std::chrono_literals;

TEST(Background, RunsTasksOnAnotherThread) {
  Pool pool(kBackgroundPool);
  std::promise<std::thread::id> ran;
  pool.start([&ran] { ran.set_value(std::this_thread::get_id()); });
  EXPECT_NE(ran.get_future().get(), std::this_thread::get_id());
  EXPECT_TRUE(pool.stop(Clock::now() + 5s));
}

// The second worker comes at once, the third a second later.
TEST(Background, GoesOnBehindTasksThatAreStuck) {
  Pool pool(kBackgroundPool);
  std::promise<void> let_go;
  std::promise<void> last;
  auto stuck = let_go.get_future().share();
  for (int i = 0; i < 2; ++i) pool.start([stuck] { stuck.wait(); });
  pool.start([&last] { last.set_value(); });
  auto done = last.get_future();
  const auto until = Clock::now() + 20s;
  while (done.wait_for(50ms) != std::future_status::ready && Clock::now() < until) pool.tend();
  EXPECT_EQ(done.wait_for(0s), std::future_status::ready);
  EXPECT_FALSE(pool.stop(Clock::now() + 10ms));
  let_go.set_value();
  EXPECT_TRUE(pool.stop(Clock::now() + 5s));
}

}  // namespace
}  // namespace rdma_exporter::task
