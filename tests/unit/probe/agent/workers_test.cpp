// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/agent/workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

namespace rdma_exporter::probe {
namespace {

TEST(Workers, RunWhatIsQueuedBeforeTheyStop) {
  std::atomic<int> done = 0;
  Workers workers(2);
  for (int i = 0; i < 100; ++i) workers.post([&] { ++done; });
  workers.stop();
  EXPECT_EQ(done, 100);
}

TEST(Workers, LetTheCallerDoWhatComesTooLate) {
  Workers workers(1);
  workers.stop();
  std::thread::id ran_on;
  workers.post([&] { ran_on = std::this_thread::get_id(); });
  EXPECT_EQ(ran_on, std::this_thread::get_id());
}

TEST(Workers, LetGoOfWhatATaskHeld) {
  Workers workers(1);
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> seen = held;
  workers.post([held = std::move(held)] {});
  workers.stop();
  EXPECT_TRUE(seen.expired());
}

}  // namespace
}  // namespace rdma_exporter::probe
