// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "http/session/deadline.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>

namespace rdma_exporter::http {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// A busy machine is late: a deadline that must pass is waited for, and one that must not is far away.
class HttpDeadline : public testing::Test {
 protected:
  void start(Clock::duration shortest) {
    deadline.emplace(io.get_executor(), shortest);
    deadline->start([this] {
      ++expired;
      at = Clock::now();
    });
  }
  void run_for(Clock::duration time) {
    io.restart();
    io.run_for(time);
  }
  void run_until_expired() {
    const auto end = Clock::now() + 10s;
    while (expired == 0 && Clock::now() < end) run_for(5ms);
  }

  asio::io_context io;
  std::optional<Deadline> deadline;
  int expired = 0;
  Clock::time_point at;
};

TEST_F(HttpDeadline, PassesOnceAndNotBeforeItsTime) {
  start(50ms);
  const auto begin = Clock::now();
  deadline->set(120ms);
  run_until_expired();
  EXPECT_GE(at - begin, 120ms);
  run_for(150ms);
  EXPECT_EQ(expired, 1);
  deadline->stop();
}

TEST_F(HttpDeadline, CanComeEarlierThanTheShortestAndThanTheOneBefore) {
  start(1h);
  deadline->set(2h);
  run_for(20ms);
  deadline->set(10ms);
  run_until_expired();
  EXPECT_EQ(expired, 1);
  deadline->stop();
}

TEST_F(HttpDeadline, NeverPassesWhenItIsMovedOrCleared) {
  start(10ms);
  deadline->set(60ms);
  deadline->set(1h);
  run_for(150ms);
  EXPECT_EQ(expired, 0) << "moved";
  deadline->set(60ms);
  deadline->clear();
  run_for(150ms);
  EXPECT_EQ(expired, 0) << "cleared";
  deadline->set(5ms);
  run_until_expired();
  EXPECT_EQ(expired, 1);
  deadline->stop();
}

TEST_F(HttpDeadline, LeavesTheEventLoopNothingToDoAfterStop) {
  start(1min);
  deadline->set(1min);
  deadline->stop();
  io.restart();
  const auto begin = Clock::now();
  io.run();
  EXPECT_LT(Clock::now() - begin, 30s);
  EXPECT_EQ(expired, 0);
}

}  // namespace
}  // namespace rdma_exporter::http
