// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "log/log.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>

namespace rdma_exporter::log {
namespace {

TEST(FormatLine, WritesLogfmtAndQuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(format_line(Format::logfmt, Level::warn, "late", {{"device", "mlx5_0"}, {"text", "a b=\"c\""}}),
            R"(level=warn msg=late device=mlx5_0 text="a b=\"c\"")");
}

TEST(FormatLine, KeepsHostileTextOnOneLine) {
  const std::string line =
      format_line(Format::logfmt, Level::info, "x", {{"name", "a\nlevel=error \x1b[31m\xff"}});
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(line.find('\x1b'), std::string::npos);
}

// A control character alone, without anything else that needs quotes.
TEST(FormatLine, QuotesControlCharacters) {
  EXPECT_EQ(format_line(Format::logfmt, Level::info, "x", {{"name", "a\nlevel"}, {"other", "\x1b[31m"}}),
            R"(level=info msg=x name="a\nlevel" other="\u001b[31m")");
}

TEST(FormatLine, WritesJsonMembers) {
  const std::string line = format_line(Format::json, Level::error, "it \"broke\"", {{"errno", "EIO"}});
  const auto object = nlohmann::json::parse("{" + line + "}");
  EXPECT_EQ(object["level"], "error");
  EXPECT_EQ(object["msg"], "it \"broke\"");
  EXPECT_EQ(object["errno"], "EIO");
}

TEST(Enabled, FollowsTheLevel) {
  setup(Level::warn, Format::logfmt);
  EXPECT_FALSE(enabled(Level::info));
  EXPECT_TRUE(enabled(Level::warn));
  EXPECT_TRUE(enabled(Level::error));
  setup(Level::info, Format::logfmt);
}

TEST(Write, StampsLinesWithTheTimeInUtc) {
  const char* const zone = std::getenv("TZ");
  const std::string before = zone == nullptr ? "" : zone;
  ::setenv("TZ", "XYZ-9", 1);  // nine hours ahead
  ::tzset();
  setup(Level::info, Format::logfmt);
  testing::internal::CaptureStderr();
  const auto now = std::chrono::floor<std::chrono::hours>(std::chrono::system_clock::now());
  write(Level::info, "x");
  const std::string line = testing::internal::GetCapturedStderr();
  zone == nullptr ? ::unsetenv("TZ") : ::setenv("TZ", before.c_str(), 1);
  ::tzset();
  std::tm utc{};
  ASSERT_NE(::strptime(line.c_str(), "ts=%Y-%m-%dT%H:%M:%S", &utc), nullptr) << line;
  const auto written = std::chrono::system_clock::from_time_t(::timegm(&utc));
  EXPECT_LE(std::chrono::abs(written - now), std::chrono::hours(1));
}

}  // namespace
}  // namespace rdma_exporter::log
