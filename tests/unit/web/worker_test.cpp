// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "web/worker.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <new>

#include "asio/asio.h"

namespace rdma_exporter::web {
namespace {

TEST(WebWorker, TriesAJobAgainThatFoundNoMemory) {
  asio::io_context io;
  Worker worker(io, 1);
  const auto tries = std::make_shared<std::atomic<int>>(0);
  bool finished = false;
  ASSERT_TRUE(worker.submit([tries, &finished]() -> Worker::Finish {
    if (++*tries < 3) throw std::bad_alloc();
    return [&finished] { finished = true; };
  }));
  const auto work = asio::make_work_guard(io);
  while (!finished) ASSERT_EQ(io.run_one_for(std::chrono::seconds(20)), 1U);
  EXPECT_EQ(*tries, 3);
}

}  // namespace
}  // namespace rdma_exporter::web
