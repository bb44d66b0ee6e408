// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "commands/probe/screen.h"

#include <gtest/gtest.h>

#include "app/command.h"

namespace rdma_exporter::commands {
namespace {

using namespace std::chrono_literals;
using probe::Failure;
using probe::Op;
using probe::Stage;

const probe::Path kPath{"mlx5_0", 1, "far"};
const Failure kRefusal{Stage::op, "rem_inv_req_err"};

class ProbeScreenTest : public testing::Test {
 protected:
  ProbeScreenTest() {
    testing::internal::CaptureStdout();
    screen.begins(kPath);
    screen.settled();
  }
  ~ProbeScreenTest() override { testing::internal::GetCapturedStdout(); }

  void succeed(Op op, int times) {
    for (int i = 0; i < times; ++i) screen.success(kPath, op, {.status = 0, .rtt = 3us, .peer_delay = {}});
  }
  void fail(Op op, int times) {
    for (int i = 0; i < times; ++i) screen.failure(kPath, op, kRefusal);
  }
  // Whether what has been told so far is enough.
  bool ended() {
    io.poll();
    return io.stopped();
  }

  asio::io_context io{1};
  // Without work of its own it would count as stopped.
  asio::executor_work_guard<asio::io_context::executor_type> guard{io.get_executor()};
  ProbeScreen screen{io, {.count = 3}};
};

TEST_F(ProbeScreenTest, EndsWithEnoughOfEachKind) {
  succeed(Op::write, 3);
  EXPECT_FALSE(ended()) << "echoes are wanted too";
  succeed(Op::echo, 3);
  EXPECT_TRUE(ended());
  EXPECT_EQ(screen.finish(), 0);
}

TEST_F(ProbeScreenTest, DoesNotWaitForWhatThePeerRefuses) {
  fail(Op::write, 1);
  fail(Op::read, 1);
  succeed(Op::echo, 3);
  EXPECT_FALSE(ended());
  screen.only_echoes(kPath);
  EXPECT_TRUE(ended());
  EXPECT_EQ(screen.finish(), 0) << "echoes worked";
}

TEST_F(ProbeScreenTest, CountsAgainWhatAPeerThatCameBackTakes) {
  screen.only_echoes(kPath);
  succeed(Op::write, 1);
  succeed(Op::echo, 3);
  EXPECT_FALSE(ended());
  succeed(Op::write, 2);
  EXPECT_TRUE(ended());
}

TEST_F(ProbeScreenTest, FailsWhenNothingWorked) {
  fail(Op::write, 2);
  fail(Op::read, 1);
  screen.failure(kPath, Op::write, {Stage::tcp, probe::kNotConnected});
  fail(Op::echo, 2);
  EXPECT_FALSE(ended());
  fail(Op::echo, 1);
  EXPECT_TRUE(ended());
  EXPECT_EQ(screen.finish(), app::kCannotServe);
}

}  // namespace
}  // namespace rdma_exporter::commands
