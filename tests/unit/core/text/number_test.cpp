// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/text/number.h"

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

// The examples of the OpenMetrics specification, "Canonical Numbers".
TEST(WriteBound, SpellsBoundsAsOpenMetricsWantsThem) {
  const auto bound = [](double value) {
    char buffer[kNumberSize];
    return std::string(buffer, write_bound(buffer, value));
  };
  for (const char* canonical : {"0.0",   "0.001",  "0.002",    "0.01",  "0.1",   "0.9",     "0.95",
                                "0.99",  "0.999",  "1.0",      "1.7",   "10.0",  "1e-10",   "1e-09",
                                "1e-05", "0.0001", "100000.0", "1e+06", "1e+10", "1.5e-06", "0.000128"})
    EXPECT_EQ(bound(std::stod(canonical)), canonical);
  EXPECT_EQ(bound(std::numeric_limits<double>::infinity()), "+Inf");
}

}  // namespace
}  // namespace rdma_exporter::core
