// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "config/duration.h"

#include <gtest/gtest.h>

#include <string>

namespace rdma_exporter::config {
namespace {

using namespace std::chrono_literals;

/// Milliseconds, or what is wrong.
std::string read(std::string_view text) {
  const auto value = parse_duration(text);
  return value ? std::to_string(value->count()) : value.error().context.text();
}

TEST(ConfigDuration, ReadsEveryUnitOfPrometheus) {
  EXPECT_EQ(read("500ms"), "500");
  EXPECT_EQ(read("5s"), "5000");
  EXPECT_EQ(read("2m"), "120000");
  EXPECT_EQ(read("24h"), "86400000");
  EXPECT_EQ(read("7d"), "604800000");
  EXPECT_EQ(read("1w"), "604800000");
  EXPECT_EQ(read("1y"), "31536000000");
  EXPECT_EQ(read("0s"), "0");
}

TEST(ConfigDuration, AddsUpUnitsFromLargeToSmall) {
  EXPECT_EQ(read("1m30s"), "90000");
  EXPECT_EQ(read("1d2h3m4s5ms"), "93784005");
}

TEST(ConfigDuration, RefusesEverythingElse) {
  for (const char* text : {"",     "5",     "s",    "5 s", " 5s",   "5s ",  "-5s", "+5s",  "1.5s", "5S",
                           "5sec", "30s1m", "1s1s", "5us", "1ms1s", "five", "5s5", "0x5s", "1e3s", "ms"}) {
    EXPECT_EQ(read(text), "is not a duration") << text;
  }
}

TEST(ConfigDuration, NoticesNumbersThatDoNotFit) {
  EXPECT_EQ(read("99999999999999999999s"), "is out of range");
  EXPECT_EQ(read("9223372036854775807s"), "is out of range");
  EXPECT_EQ(read("9223372036854775807ms"), "9223372036854775807");
  EXPECT_EQ(read("1s9223372036854775807ms"), "is out of range");
}

TEST(ConfigDuration, WritesWhatItReadsAgain) {
  EXPECT_EQ(format_duration(0ms), "0s");
  EXPECT_EQ(format_duration(500ms), "500ms");
  EXPECT_EQ(format_duration(90s), "1m30s");
  EXPECT_EQ(format_duration(24h), "24h");
  EXPECT_EQ(format_duration(3661001ms), "1h1m1s1ms");
  for (const auto value : {0ms, 1ms, 999ms, 1000ms, 60001ms, 86'400'000ms, 9'223'372'036'854'775'807ms}) {
    EXPECT_EQ(read(format_duration(value)), std::to_string(value.count()));
  }
}

}  // namespace
}  // namespace rdma_exporter::config
