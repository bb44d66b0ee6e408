// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/labels.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace rdma_exporter::core
