// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace rdma_exporter::core {
namespace {

template <typename T>
std::string text(T value) {
  std::string out;
  append_number(out, value);
  return out;
}

TEST(AppendNumber, KeepsAllDigitsOfA64BitCounter) {
  EXPECT_EQ(text(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
}

TEST(AppendNumber, PrintsTheShortestFormThatReadsBackTheSame) {
  EXPECT_EQ(text(0.1), "0.1");
  EXPECT_EQ(text(12.5e9), "1.25e+10");
  EXPECT_EQ(std::stod(text(1.0 / 3)), 1.0 / 3);
}

TEST(AppendNumber, SpellsSpecialValuesAsGoDoes) {
  EXPECT_EQ(text(std::nan("")), "NaN");
  EXPECT_EQ(text(std::numeric_limits<double>::infinity()), "+Inf");
  EXPECT_EQ(text(-std::numeric_limits<double>::infinity()), "-Inf");
}

}  // namespace
}  // namespace rdma_exporter::core
