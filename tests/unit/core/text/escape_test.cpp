// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/text/escape.h"

#include <gtest/gtest.h>

namespace rdma_exporter::core {
namespace {

std::string repaired(std::string_view text) {
  std::string out;
  append_utf8(out, text);
  return out;
}

TEST(AppendUtf8, KeepsWellFormedText) {
  for (const std::string_view text : {"plain", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", ""})
    EXPECT_EQ(repaired(text), text);
}

TEST(AppendUtf8, ReplacesEachBadByte) {
  EXPECT_EQ(repaired("a\xff"
                     "b"),
            R"(a\xffb)");
  EXPECT_EQ(repaired("\xC3"), R"(\xc3)");  // cut at the end
}

TEST(AppendUtf8, RefusesOverlongFormsSurrogatesAndTooLargeCodePoints) {
  EXPECT_EQ(repaired("\xC0\x80"), R"(\xc0\x80)");
  EXPECT_EQ(repaired("\xE0\x80\x80"), R"(\xe0\x80\x80)");
  EXPECT_EQ(repaired("\xED\xA0\x80"), R"(\xed\xa0\x80)");
  EXPECT_EQ(repaired("\xF4\x90\x80\x80"), R"(\xf4\x90\x80\x80)");
  EXPECT_EQ(repaired("\xF5\x80\x80\x80"), R"(\xf5\x80\x80\x80)");
}

TEST(AppendUtf8, KeepsDifferentTextsDifferent) { EXPECT_NE(repaired("\xff\xfe"), repaired("\xfe\xff")); }

TEST(HtmlText, EndsNoElementAndNoAttribute) {
  EXPECT_EQ(html_text(R"(<a b="c" d='e'>&amp;)"), "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;amp;");
}

TEST(HtmlText, IsUtf8WhateverTheKernelHolds) { EXPECT_EQ(html_text("node\xff"), R"(node\xff)"); }

}  // namespace
}  // namespace rdma_exporter::core
