// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "http/session/deadline.h"

#include <gtest/gtest.h>

#include <chrono>

namespace rdma_exporter::http {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

class HttpDeadline : public testing::Test {
 protected:
  void start() {
    deadline.start([this] {
      ++expired;
      at = Clock::now();
    });
  }
  void run_for(int time) {
    io.restart();
    io.run_for(milliseconds(time));
  }

  asio::io_context io;
  Deadline deadline{io.get_executor(), milliseconds(50)};
  int expired = 0;
  Clock::time_point at;
};

TEST_F(HttpDeadline, PassesOnceAndNotBeforeItsTime) {
  start();
  const auto begin = Clock::now();
  deadline.set(milliseconds(120));
  run_for(250);
  EXPECT_EQ(expired, 1);
  EXPECT_GE(at - begin, milliseconds(120));
  EXPECT_LE(at - begin, milliseconds(180));
  deadline.stop();
}

TEST_F(HttpDeadline, CanComeEarlierThanTheShortestAndThanTheOneBefore) {
  start();
  deadline.set(milliseconds(10000));
  run_for(60);
  const auto begin = Clock::now();
  deadline.set(milliseconds(10));
  run_for(60);
  EXPECT_EQ(expired, 1);
  EXPECT_LE(at - begin, milliseconds(40));
  deadline.stop();
}

TEST_F(HttpDeadline, NeverPassesWhenItIsMovedOrCleared) {
  start();
  for (int i = 0; i < 6; ++i) {
    deadline.set(milliseconds(60));
    run_for(30);
  }
  deadline.clear();
  run_for(150);
  EXPECT_EQ(expired, 0);
  deadline.set(milliseconds(5));
  run_for(30);
  EXPECT_EQ(expired, 1);
  deadline.stop();
}

TEST_F(HttpDeadline, LeavesTheEventLoopNothingToDoAfterStop) {
  start();
  deadline.set(milliseconds(10));
  deadline.stop();
  const auto begin = Clock::now();
  io.restart();
  io.run();
  EXPECT_LE(Clock::now() - begin, milliseconds(40));
  EXPECT_EQ(expired, 0);
}

}  // namespace
}  // namespace rdma_exporter::http
