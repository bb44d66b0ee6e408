// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/exposition/html.h"

#include <gtest/gtest.h>

namespace rdma_exporter::core {
namespace {

TEST(HtmlText, EndsNoElementAndNoAttribute) {
  EXPECT_EQ(html_text(R"(<a b="c" d='e'>&amp;)"), "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;amp;");
}

TEST(HtmlText, IsUtf8WhateverTheKernelHolds) { EXPECT_EQ(html_text("node\xff"), R"(node\xff)"); }

}  // namespace
}  // namespace rdma_exporter::core
