// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/events/unchanged.h"

#include <gtest/gtest.h>

namespace rdma_exporter::host {
namespace {

using namespace std::chrono_literals;

class UnchangedTest : public ::testing::Test {
 protected:
  UnchangedTest() { changes_.set_complete(true); }

  Changes changes_;
  Unchanged link_{changes_};
  Unchanged::Clock::time_point now_;

  bool still() { return link_.still({"mlx5_0", "eth0"}, now_); }
};

TEST_F(UnchangedTest, HoldsUntilAnEventOfOneOfTheNames) {
  EXPECT_FALSE(still()) << "nothing has been read";
  EXPECT_TRUE(still());
  changes_.note("eth0");
  EXPECT_FALSE(still());
  EXPECT_TRUE(still());
  changes_.note("mlx5_0");
  EXPECT_FALSE(still());
  EXPECT_TRUE(still());
  changes_.note_all();
  EXPECT_FALSE(still());
}

TEST_F(UnchangedTest, HoldsForAMinuteWithoutEvents) {
  still();
  now_ += 59s;
  EXPECT_TRUE(still());
  now_ += 1s;
  EXPECT_FALSE(still());
  now_ += 59s;
  EXPECT_TRUE(still());
}

TEST_F(UnchangedTest, HoldsNothingWhileEventsMayBeMissed) {
  still();
  changes_.set_complete(false);
  EXPECT_FALSE(still());
  EXPECT_FALSE(still());
}

TEST_F(UnchangedTest, IsReadAgainAfterAFailure) {
  still();
  link_.forget();
  EXPECT_FALSE(still());
}

}  // namespace
}  // namespace rdma_exporter::host
