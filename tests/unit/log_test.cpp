// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "log/log.h"

#include <gtest/gtest.h>

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
  EXPECT_TRUE(enabled(Level::error));
  setup(Level::info, Format::logfmt);
}

}  // namespace
}  // namespace rdma_exporter::log
