// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "task/token_bucket.h"

#include <gtest/gtest.h>

#include <chrono>

namespace rdma_exporter::task {
namespace {

using namespace std::chrono_literals;

const TokenBucket::Clock::time_point kFirst{1h};

TEST(TokenBucket, GivesABurstAndThenOnePerInterval) {
  TokenBucket bucket(100ms, 3);
  const auto taken = [&](std::chrono::milliseconds at, int tries) {
    int n = 0;
    for (int i = 0; i < tries; ++i) n += bucket.take(kFirst + at) ? 1 : 0;
    return n;
  };
  EXPECT_EQ(taken(0ms, 5), 3);
  EXPECT_EQ(bucket.next(), kFirst + 100ms);
  EXPECT_EQ(taken(99ms, 5), 0);
  EXPECT_EQ(taken(101ms, 5), 1);
  EXPECT_EQ(taken(320ms, 5), 2);
  EXPECT_EQ(taken(100s, 9), 3) << "no more than the burst is saved up";
}

TEST(TokenBucket, GivesItsRateAndNoMore) {
  TokenBucket bucket(100ms, 10);
  while (bucket.take(kFirst)) {
  }
  int later = 0;
  for (auto now = kFirst; now < kFirst + 10s; now += 1ms) later += bucket.take(now) ? 1 : 0;
  EXPECT_NEAR(later, 100, 1);
}

}  // namespace
}  // namespace rdma_exporter::task
