// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/fs/guarded_buffer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace rdma_exporter::host {
namespace {

// The kernel itself tries to write more than the buffer holds.
TEST(GuardedBuffer, StopsAKernelThatWritesTooMuch) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const char text[64] = "more than the buffer holds";
  for (const std::size_t size : {std::size_t{20}, std::size_t{4096}, std::size_t{100'000}, std::size_t{20}}) {
    GuardedBuffer buffer;
    const auto memory = buffer.get(size);
    ASSERT_EQ(memory.size(), size);
    ASSERT_EQ(::write(pipe[1], text, sizeof text), static_cast<ssize_t>(sizeof text));
    errno = 0;
    const ssize_t done = ::read(pipe[0], memory.data() + size - 10, sizeof text);
    EXPECT_TRUE(done == 10 || (done == -1 && errno == EFAULT)) << done << " " << errno;
    char rest[64];
    EXPECT_GT(::read(pipe[0], rest, sizeof rest), 0);
  }
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST(GuardedBuffer, GivesWritableMemoryOfAnySizeAgainAndAgain) {
  GuardedBuffer buffer;
  for (const std::size_t size : {0U, 1U, 24U, 4096U, 300'000U, 8U, 300'001U}) {
    const auto memory = buffer.get(size);
    ASSERT_EQ(memory.size(), size);
    if (size > 0) std::memset(memory.data(), 0xab, size);
  }
}

}  // namespace
}  // namespace rdma_exporter::host
