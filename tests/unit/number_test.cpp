// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace rdma_exporter::core {
namespace {

template <typename T>
std::string text(T value) {
  char buffer[kNumberSize];
  return {buffer, write_number(buffer, value)};
}

TEST(WriteNumber, KeepsAllDigitsOfA64BitCounter) {
  EXPECT_EQ(text(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
}

TEST(WriteNumber, PrintsTheShortestFormThatReadsBackTheSame) {
  EXPECT_EQ(text(0.1), "0.1");
  EXPECT_EQ(text(12.5e9), "1.25e+10");
  EXPECT_EQ(std::stod(text(1.0 / 3)), 1.0 / 3);
}

TEST(WriteNumber, FitsTheLongestDouble) {
  EXPECT_EQ(text(-std::numeric_limits<double>::min()), "-2.2250738585072014e-308");
}

TEST(WriteNumber, SpellsSpecialValuesAsGoDoes) {
  EXPECT_EQ(text(std::nan("")), "NaN");
  EXPECT_EQ(text(std::numeric_limits<double>::infinity()), "+Inf");
  EXPECT_EQ(text(-std::numeric_limits<double>::infinity()), "-Inf");
}

}  // namespace
}  // namespace rdma_exporter::core
