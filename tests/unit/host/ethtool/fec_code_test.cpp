// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/ethtool/fec_code.h"

#include <gtest/gtest.h>

namespace rdma_exporter::host {
namespace {

constexpr double kGigabit = 1e9 / 8;
constexpr double kNrzLimit = 5e-5;
constexpr double kPam4Limit = 2.4e-4;

double limit(double gigabits, std::optional<std::uint32_t> lanes) {
  const auto code = fec_code("rs", gigabits * kGigabit, lanes);
  return code ? code->bit_error_limit : 0;
}

TEST(FecCode, GoesByTheSpeedOfALane) {
  EXPECT_EQ(limit(100, 4), kNrzLimit);
  EXPECT_EQ(limit(100, 2), kPam4Limit);
  EXPECT_EQ(limit(100, 1), kPam4Limit);
  EXPECT_EQ(limit(50, 2), kNrzLimit);
  EXPECT_EQ(limit(50, 1), kPam4Limit);
  EXPECT_EQ(limit(400, 4), kPam4Limit);
}

TEST(FecCode, NeedsNoLanesWhereASpeedHasOneCode) {
  EXPECT_EQ(limit(25, std::nullopt), kNrzLimit);
  EXPECT_EQ(limit(200, std::nullopt), kPam4Limit);
  EXPECT_EQ(limit(800, std::nullopt), kPam4Limit);
}

TEST(FecCode, IsNotGuessed) {
  EXPECT_EQ(limit(100, std::nullopt), 0);
  EXPECT_EQ(limit(50, std::nullopt), 0);
  EXPECT_EQ(limit(0, 4), 0);
  for (const char* mode : {"off", "baser", "llrs", ""})
    EXPECT_FALSE(fec_code(mode, 400 * kGigabit, 4)) << mode;
}

// 802.3: 25GBASE-R 25.78125 GBd; 400GBASE-R8 26.5625 GBd of two bits each on eight lanes.
TEST(FecCode, KnowsTheRateOfTheLine) {
  EXPECT_DOUBLE_EQ(25e9 * fec_code("rs", 25 * kGigabit, 1)->line_rate_over_speed, 25.78125e9);
  EXPECT_DOUBLE_EQ(400e9 * fec_code("rs", 400 * kGigabit, 8)->line_rate_over_speed, 8 * 2 * 26.5625e9);
  EXPECT_EQ(fec_code("rs", 25 * kGigabit, 1)->codeword_bytes, 660);
  EXPECT_EQ(fec_code("rs", 400 * kGigabit, 8)->codeword_bytes, 680);
}

}  // namespace
}  // namespace rdma_exporter::host
