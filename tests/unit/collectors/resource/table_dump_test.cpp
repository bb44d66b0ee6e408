// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/resource/table_dump.h"

#include <gtest/gtest.h>

namespace rdma_exporter::collectors {
namespace {

using namespace std::chrono_literals;

constexpr DumpGuard::Clock::time_point kNow{1000s};

TEST(DumpGuard, KnowsEachIdOnce) {
  DumpGuard guard(100, kNow + 1s);
  for (const std::uint64_t id : {0U, 5U, 7U, 6U, 1U}) EXPECT_TRUE(guard.fresh(id)) << id;
  for (const std::uint64_t id : {0U, 1U, 5U, 6U, 7U}) EXPECT_FALSE(guard.fresh(id)) << id;
  EXPECT_TRUE(guard.fresh(8));
}

TEST(DumpGuard, EndsADumpThatGoesOnWithoutAnythingNew) {
  DumpGuard guard(100, kNow + 1s);
  guard.fresh(1);
  EXPECT_TRUE(guard.more(kNow));
  for (unsigned i = 1; i < DumpGuard::kIdleMessages; ++i) {
    guard.fresh(1);
    EXPECT_TRUE(guard.more(kNow)) << i;
  }
  EXPECT_FALSE(guard.more(kNow));
  EXPECT_EQ(guard.stopped(), "stalled");
}

TEST(DumpGuard, BearsAFirstMessageThatIsEmpty) {
  DumpGuard guard(100, kNow + 1s);
  EXPECT_TRUE(guard.more(kNow));
  for (std::uint64_t id = 1; id < 50; ++id) {
    guard.fresh(id);
    EXPECT_TRUE(guard.more(kNow));
  }
  EXPECT_EQ(guard.stopped(), "");
}

TEST(DumpGuard, EndsAboveItsLimits) {
  DumpGuard entries(2, kNow + 1s);
  entries.fresh(1);
  entries.fresh(2);
  EXPECT_TRUE(entries.more(kNow));
  entries.fresh(3);
  EXPECT_FALSE(entries.more(kNow));
  EXPECT_EQ(entries.stopped(), "max_entries");

  DumpGuard time(100, kNow + 1s);
  time.fresh(1);
  EXPECT_TRUE(time.more(kNow + 999ms));
  time.fresh(2);
  EXPECT_FALSE(time.more(kNow + 1s));
  EXPECT_EQ(time.stopped(), "timeout");
}

}  // namespace
}  // namespace rdma_exporter::collectors
