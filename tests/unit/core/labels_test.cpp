// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/labels.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace rdma_exporter::core {
namespace {

TEST(RenderLabels, JoinsPairs) {
  EXPECT_EQ(render_labels({{"device", "mlx5_0"}, {"port", "1"}}), R"(device="mlx5_0",port="1")");
  EXPECT_EQ(render_labels({}), "");
}

TEST(RenderLabels, EscapesBackslashQuoteAndNewline) {
  EXPECT_EQ(render_labels({{"a", "x\\y\"z\nw"}}), R"(a="x\\y\"z\nw")");
}

TEST(RenderLabels, RepairsInvalidUtf8) { EXPECT_EQ(render_labels({{"a", "x\xff|y"}}), R"(a="x\\xff|y")"); }

TEST(AppendLabel, PutsACommaOnlyBetween) {
  std::string block;
  append_label(block, "a", "1");
  append_label(block, "b", "");
  EXPECT_EQ(block, R"(a="1",b="")");
}

TEST(ForEachLabel, GivesBackWhatWasRendered) {
  const std::vector<std::pair<std::string, std::string>> labels{
      {"a", "x,y=\"z\"\\"}, {"b", ""}, {"c", "line\nline"}, {"d", "\\n"}, {"e", "{}"}};
  std::string block;
  for (const auto& [name, value] : labels) append_label(block, name, value);
  std::vector<std::pair<std::string, std::string>> seen;
  for_each_label(block,
                 [&](std::string_view name, std::string_view value) { seen.emplace_back(name, value); });
  EXPECT_EQ(seen, labels);
  for_each_label("", [](std::string_view, std::string_view) { FAIL(); });
}

}  // namespace
}  // namespace rdma_exporter::core
