// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/ethtool/ethernet_link.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "tests/unit/support/recorded_netlink.h"

namespace rdma_exporter::host::genl_ethtool {
namespace {

using test::Message;
using test::recorded_file;

TEST(ParseFastestMode, TakesTheFastestSupportedOne) {
  EXPECT_EQ(parse_fastest_mode(recorded_file("ethernet/connectx/linkmodes_get_named.bin")).value(),
            400e9 / 8);
  EXPECT_EQ(parse_fastest_mode(recorded_file("ethernet/netxtreme/linkmodes_get_named.bin")).value(),
            200e9 / 8);
}

TEST(ParseFastestMode, IsNotKnownWhereTheDriverListsNone) {
  EXPECT_EQ(parse_fastest_mode(recorded_file("ethernet/virtio/linkmodes_get_named.bin")).value(),
            std::nullopt);
}

// A kernel that is newer than this program names its modes too.
TEST(ParseFastestMode, KnowsModesByTheirNames) {
  Message bytes = recorded_file("ethernet/connectx/linkmodes_get_named.bin");
  const std::string_view old = "400000baseCR4";
  const std::string_view fresh = "800000baseVR4";
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t at = text.find(old);
  ASSERT_NE(at, std::string_view::npos);
  std::transform(fresh.begin(), fresh.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at),
                 [](char c) { return static_cast<std::byte>(c); });
  EXPECT_EQ(parse_fastest_mode(bytes).value(), 800e9 / 8);
}

TEST(ParseFastestMode, IsTheFastestWhereverItStands) {
  Message bytes = recorded_file("ethernet/connectx/linkmodes_get_named.bin");
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t first = text.find("00000base") - 1;  // of six digits
  ASSERT_LT(first, text.rfind("base") - 6);
  bytes[first] = std::byte{'9'};
  EXPECT_EQ(parse_fastest_mode(bytes).value(), 900e9 / 8);
}

TEST(ParseFastestMode, RefusesWhatIsCutOffOrAnotherAnswer) {
  const Message bytes = recorded_file("ethernet/connectx/linkmodes_get_named.bin");
  EXPECT_FALSE(parse_fastest_mode({}).has_value());
  EXPECT_FALSE(parse_fastest_mode(Bytes(bytes).first(bytes.size() / 2)).has_value());
  EXPECT_FALSE(parse_fastest_mode(recorded_file("ethernet/connectx/rings_get.bin")).has_value());
}

}  // namespace
}  // namespace rdma_exporter::host::genl_ethtool

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
