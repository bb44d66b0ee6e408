// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/utf8.h"

#include <gtest/gtest.h>

namespace rdma_exporter::core {
namespace {

std::string repaired(std::string_view text) {
  std::string out;
  append_utf8(out, text);
  return out;
}

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

TEST(AppendUtf8, KeepsWellFormedText) {
  for (const std::string_view text : {"plain", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", ""})
    EXPECT_EQ(repaired(text), text);
}

TEST(AppendUtf8, ReplacesEachBadByte) {
  EXPECT_EQ(repaired("a\xff" "b"), "a" + std::string(kReplacement) + "b");
  EXPECT_EQ(repaired("\xC3"), kReplacement);  // cut at the end
}

TEST(AppendUtf8, RefusesOverlongFormsSurrogatesAndTooLargeCodePoints) {
  for (const std::string_view text : {"\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80"}) {
    std::string all;
    for (std::size_t i = 0; i < text.size(); ++i) all += kReplacement;
    EXPECT_EQ(repaired(text), all);
  }
}

}  // namespace
}  // namespace rdma_exporter::core
