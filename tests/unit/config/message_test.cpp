// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "config/message.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace rdma_exporter::config {
namespace {

TEST(ConfigMessage, QuotesOnOnePrintableLine) {
  EXPECT_EQ(in_quotes("plain"), "\"plain\"");
  EXPECT_EQ(in_quotes("a\nb\x1b[2J\x7f"), "\"a\\x0ab\\x1b[2J\\x7f\"");
  EXPECT_EQ(in_quotes("\xff"), R"("\xff")");
  EXPECT_EQ(in_quotes(std::string(1000, 'a')), "\"" + std::string(80, 'a') + "\"...");
}

TEST(ConfigMessage, SuggestsTheNearestWordAndNothingThatIsFarAway) {
  const std::array<std::string, 4> known{"web", "web.telemetry_path", "web.max_connections", "log"};
  EXPECT_EQ(nearest("web.telemetrypath", known), "web.telemetry_path");
  EXPECT_EQ(nearest("web.max-conections", known), "web.max_connections");
  EXPECT_EQ(nearest("wbe", known), "");
  EXPECT_EQ(nearest("webs", known), "web");
  EXPECT_EQ(nearest("frobnicate", known), "");
  EXPECT_EQ(nearest("", known), "");
  EXPECT_EQ(nearest(std::string(100'000, 'a'), known), "");
}

TEST(ConfigMessage, ListsAlternatives) {
  EXPECT_EQ(alternatives(std::array<std::string, 1>{"a"}), "a");
  EXPECT_EQ(alternatives(std::array<std::string, 3>{"a", "b", "c"}), "a, b or c");
}

}  // namespace
}  // namespace rdma_exporter::config
