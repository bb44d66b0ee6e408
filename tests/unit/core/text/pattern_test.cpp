// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/text/pattern.h"

#include <gtest/gtest.h>

#include <string>

namespace rdma_exporter::core {
namespace {

TEST(PatternOfNames, IsForWholeNames) {
  const Pattern pattern("mlx5_[0-3]|irdma0");
  EXPECT_TRUE(pattern.matches("mlx5_0"));
  EXPECT_TRUE(pattern.matches("irdma0"));
  EXPECT_FALSE(pattern.matches("mlx5_01"));
  EXPECT_FALSE(pattern.matches("xirdma0"));
}

TEST(PatternOfNames, MatchesNothingWhileUnset) {
  EXPECT_FALSE(Pattern().is_set());
  EXPECT_FALSE(Pattern().matches(""));
  EXPECT_FALSE(Pattern::compile("")->is_set());
}

TEST(PatternOfNames, SaysWhatIsWrong) {
  EXPECT_EQ(Pattern::compile("*").error().context.text(), "no argument for repetition operator: *");
  EXPECT_FALSE(Pattern::compile("(?!rx).*")) << "no lookahead, as in Prometheus";
}

// An expression over which a backtracking matcher takes longer than anybody waits.
TEST(PatternOfNames, TakesLinearTime) {
  EXPECT_FALSE(Pattern(R"((\w+_?)+x)").matches(std::string(5'000, 'a')));
}

}  // namespace
}  // namespace rdma_exporter::core
