// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/ethtool/link_modes.h"

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
