// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "config/flags/value_type.h"

#include <gtest/gtest.h>

#include <string>

// The checks of single values, by what is wrong with them.
namespace rdma_exporter::config {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;

template <typename T>
std::string problem(const ValueType<T>& type, std::string_view value) {
  const auto parsed = type.parse(value);
  return parsed ? "accepted" : parsed.error().context.text();
}

TEST(ConfigText, IsOneLineOfUtf8) {
  EXPECT_EQ(problem(text("", ""), ""), "accepted");
  EXPECT_EQ(problem(text("", ""), "größe \"quoted\" \\ #"), "accepted");
  EXPECT_EQ(problem(text("", ""), "a\nb"), "contains a control character");
  EXPECT_EQ(problem(text("", ""), "a\0b"s), "contains a control character");
  EXPECT_EQ(problem(text("", ""), "\xc3"), "is not valid UTF-8");
  EXPECT_EQ(problem(text("", ""), std::string(4097, 'a')), "is too long");
  EXPECT_EQ(problem(filled_text("", ""), ""), "is empty");
}

TEST(ConfigNumber, IsWholeAndInRange) {
  const auto type = number(1, 100);
  EXPECT_EQ(problem(type, "1"), "accepted");
  EXPECT_EQ(*type.parse("100"), 100u);
  for (const char* value : {"0", "101", "4294967297", "18446744073709551617"}) {
    EXPECT_EQ(problem(type, value), "is out of range") << value;
  }
  for (const char* value : {"", "-1", "+1", "1.0", "1e1", "0x1", " 1", "1 ", "ten", "1_0"}) {
    EXPECT_EQ(problem(type, value), "is not a whole number") << value;
  }
}

TEST(ConfigDurationType, IsInRange) {
  const auto type = duration(10ms, 1h);
  EXPECT_EQ(problem(type, "10ms"), "accepted");
  EXPECT_EQ(problem(type, "1h"), "accepted");
  EXPECT_EQ(problem(type, "9ms"), "is out of range");
  EXPECT_EQ(problem(type, "1h1ms"), "is out of range");
  EXPECT_EQ(problem(whole_seconds(0s, 1h), "1h1s"), "is out of range");
  EXPECT_EQ(problem(whole_seconds(0s, 1h), "1ms"), "is not a whole number of seconds");
  EXPECT_EQ(*whole_seconds(0s, 1h).parse("1m1s"), 61s);
}

TEST(ConfigBoolean, IsTrueOrFalse) {
  EXPECT_TRUE(*boolean().parse("true"));
  EXPECT_FALSE(*boolean().parse("false"));
  for (const char* value : {"yes", "True", "1", "on", ""})
    EXPECT_EQ(problem(boolean(), value), "is not a boolean");
}

TEST(ConfigRegex, CompilesOrSaysWhyNot) {
  EXPECT_EQ(problem(regex(), ""), "accepted");
  EXPECT_EQ(problem(regex(), "mlx5_(0|bond_[0-9]+)"), "accepted");
  EXPECT_EQ(problem(regex(), "(").substr(0, 29), "is not a regular expression: ");
  EXPECT_EQ(problem(regex(), "*"),
            "is not a regular expression: no argument for repetition operator: *; .* matches anything");
  EXPECT_EQ(problem(regex(), "[z-a]").substr(0, 29), "is not a regular expression: ");
  EXPECT_EQ(problem(regex(), "a\nb"), "contains a control character");
}

TEST(ConfigRegex, IsBoundedInLengthAndSize) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '(') + std::string(depth, ')'); };
  EXPECT_EQ(problem(regex(), nested(512)), "accepted");
  EXPECT_EQ(problem(regex(), nested(2048)), "accepted");
  EXPECT_EQ(problem(regex(), nested(100'000)), "is too long");
  EXPECT_EQ(problem(regex(), "((a{300}){300}){300}").substr(0, 29), "is not a regular expression: ");
}

TEST(ConfigTelemetryPath, LeavesTheOtherEndpointsAlone) {
  EXPECT_EQ(problem(telemetry_path(), "/metrics"), "accepted");
  EXPECT_EQ(problem(telemetry_path(), "/rdma/metrics-1_a.b~c"), "accepted");
  EXPECT_EQ(problem(telemetry_path(), ""), "does not start with /");
  EXPECT_EQ(problem(telemetry_path(), "metrics"), "does not start with /");
  EXPECT_EQ(problem(telemetry_path(), "/"), "is reserved for the landing page");
  EXPECT_EQ(problem(telemetry_path(), "/-"), "is reserved for health and readiness checks");
  EXPECT_EQ(problem(telemetry_path(), "/-/metrics"), "is reserved for health and readiness checks");
  for (const char* value : {"//metrics", "/a b", "/a?b", "/a#b", "/a%20b", "/\xc3\xa4", "/a\n"}) {
    EXPECT_EQ(problem(telemetry_path(), value), "is not a plain URL path") << value;
  }
}

}  // namespace
}  // namespace rdma_exporter::config
