// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/text/number_list.h"

#include <gtest/gtest.h>

namespace rdma_exporter::core {
namespace {

TEST(NumberList, IsWhatTheKernelPrints) {
  const NumberList list = parse_number_list("0-3,8,10-11\n").value();
  EXPECT_EQ(list.count(), 7U);
  for (const std::uint32_t inside : {0U, 3U, 8U, 10U, 11U}) EXPECT_TRUE(list.contains(inside)) << inside;
  for (const std::uint32_t outside : {4U, 7U, 9U, 12U}) EXPECT_FALSE(list.contains(outside)) << outside;
}

TEST(NumberList, MayBeEmpty) {
  EXPECT_TRUE(parse_number_list("\n").value().empty());
  EXPECT_FALSE(parse_number_list("").value().contains(0));
}

TEST(NumberList, Intersects) {
  const NumberList low = parse_number_list("0-3").value();
  EXPECT_TRUE(low.intersects(parse_number_list("3-5").value()));
  EXPECT_FALSE(low.intersects(parse_number_list("4-7").value()));
  EXPECT_FALSE(low.intersects(NumberList()));
}

TEST(NumberList, CountsTheWholeRangeOfNumbers) {
  EXPECT_EQ(parse_number_list("0-4294967295").value().count(), 4294967296U);
}

TEST(NumberList, RefusesEverythingElse) {
  for (const char* text :
       {"a", "1-", "-1", "3-1", "1,", ",1", "1,,2", "1 2", "2,1", "1-3,3", "4294967296", "1-2-3"})
    EXPECT_FALSE(parse_number_list(text).has_value()) << text;
}

}  // namespace
}  // namespace rdma_exporter::core
