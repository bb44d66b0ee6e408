// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/counters/carry_over.h"

#include <gtest/gtest.h>

#include <array>

namespace rdma_exporter::collectors {
namespace {

constexpr host::FileId kFirst{1, 100, 0, true};
constexpr host::FileId kSecond{1, 101, 0, true};

int found(CarryOver& all, const host::FileId& registration, const std::string& source) {
  return all.take(registration, source).found<int>();
}

TEST(CarryOver, GivesTheNextHolderWhatTheLastOneLeft) {
  CarryOver all;
  all.take(kFirst, "1/hw_counters").leave(7);
  EXPECT_EQ(found(all, kFirst, "1/hw_counters"), 7);
  EXPECT_EQ(found(all, kFirst, "2/hw_counters"), 0);
  EXPECT_EQ(found(all, kSecond, "1/hw_counters"), 0) << "another registration starts afresh";
}

TEST(CarryOver, TakesNothingFromAReaderThatHasASuccessor) {
  CarryOver all;
  auto stuck = all.take(kFirst, "a");
  stuck.leave(1);
  auto successor = all.take(kFirst, "a");
  successor.leave(2);
  stuck.leave(1);
  EXPECT_EQ(found(all, kFirst, "a"), 2);
}

TEST(CarryOver, ForgetsWhatIsGone) {
  CarryOver all;
  auto gone = all.take(kFirst, "a");
  gone.leave(1);
  all.take(kSecond, "a").leave(2);
  all.keep_only(std::array{kSecond});
  EXPECT_EQ(all.size(), 1U);
  gone.leave(3);
  EXPECT_EQ(found(all, kFirst, "a"), 0);
  EXPECT_EQ(found(all, kSecond, "a"), 2);
}

TEST(CarryOver, IsNotNeeded) {
  CarryOver::Slot nothing;
  nothing.leave(1);
  EXPECT_EQ(nothing.found<int>(), 0);
}

}  // namespace
}  // namespace rdma_exporter::collectors
