// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "scrape/selection.h"

#include <gtest/gtest.h>

namespace rdma_exporter::scrape {
namespace {

TEST(Selection, OfNothingInParticularIsEverything) {
  EXPECT_TRUE(Selection().has("port"));
  EXPECT_FALSE(Selection({"device"}).has("port"));
  EXPECT_FALSE(Selection(std::set<std::string, std::less<>>{}).has("port"));
}

TEST(Selection, CoversItsParts) {
  const Selection both({"device", "port"});
  EXPECT_TRUE(both.covers(Selection({"port"})));
  EXPECT_TRUE(both.covers(both));
  EXPECT_FALSE(both.covers(Selection({"port", "verbs"})));
  EXPECT_FALSE(both.covers(Selection()));
  EXPECT_TRUE(Selection().covers(both));
  EXPECT_TRUE(Selection().covers(Selection()));
}

TEST(Selection, Grows) {
  Selection some({"device"});
  some.add(Selection({"port"}));
  EXPECT_EQ(some, Selection({"device", "port"}));
  some.add(Selection());
  EXPECT_EQ(some, Selection());
  some.add(Selection({"port"}));
  EXPECT_EQ(some, Selection());
}

}  // namespace
}  // namespace rdma_exporter::scrape
