// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "discovery/target_list.h"

#include <gtest/gtest.h>

namespace rdma_exporter::discovery {
namespace {

TEST(TargetList, IsWhatPrometheusReads) {
  const auto list = parse_target_list(R"([
    {"targets": ["gpu-17:9401", "10.0.0.18", "[2001:db8::1]:9402"], "labels": {"group": "pod1", "rail": "r0"}},
    {"labels": {"__meta_x": "y"}, "targets": []},
    {"targets": ["gpu-19"]}
  ])");
  ASSERT_TRUE(list) << list.error().context.text();
  ASSERT_EQ(list->size(), 3U);
  EXPECT_EQ((*list)[0].targets,
            (std::vector<Address>{{"gpu-17", 9401}, {"10.0.0.18", 0}, {"2001:db8::1", 9402}}));
  EXPECT_EQ((*list)[0].labels.at("rail"), "r0");
  EXPECT_TRUE((*list)[1].targets.empty());
  EXPECT_TRUE((*list)[2].labels.empty());
}

TEST(TargetList, MayBeEmptyAndHaveWhatGoWritesForNothing) {
  EXPECT_TRUE(parse_target_list("[]"));
  EXPECT_TRUE(parse_target_list("[{}]"));
  EXPECT_TRUE(parse_target_list(R"([{"targets": null, "labels": null}])"));
}

TEST(TargetList, IsTakenWholeOrNotAtAll) {
  for (const char* bad : {"",
                          "{}",
                          "null",
                          "[",
                          "[[]]",
                          "[1]",
                          R"(["gpu-17"])",
                          R"([{"targets": "gpu-17"}])",
                          R"([{"targets": [17]}])",
                          R"([{"targets": [["a"]]}])",
                          R"([{"targets": [null]}])",
                          R"([{"labels": ["a"]}])",
                          R"([{"labels": {"a": 1}}])",
                          R"([{"labels": {"a": {"b": "c"}}}])",
                          R"([{"labels": {"a": null}}])",
                          R"([{"source": "x"}])",
                          R"([{"targets": [], "targets": []}])",
                          "[] []",
                          R"([{"targets": ["a"]}] x)",
                          R"([{"targets": ["a"]}, {"targets": [""]}])",
                          "[{\"targets\": [\"\xff\"]}]"}) {
    const auto list = parse_target_list(bad);
    ASSERT_FALSE(list) << bad;
    EXPECT_EQ(list.error().kind, core::Errc::parse) << bad;
    EXPECT_FALSE(list.error().context.empty()) << bad;
  }
}

// Also after groups that are complete: their hosts alone would stand for all.
TEST(TargetList, IsNotAShorterOneWhereItIsCut) {
  const std::string whole =
      R"([{"targets": ["a", "b"]}, {"targets": ["c"], "labels": {"rail": "r0"}}, {"targets": ["d"]}])";
  ASSERT_TRUE(parse_target_list(whole));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto list = parse_target_list(whole.substr(0, size));
    ASSERT_FALSE(list) << whole.substr(0, size);
    EXPECT_NE(list.error().context.text().find("is not valid JSON"), std::string::npos)
        << list.error().context.text();
  }
}

TEST(TargetList, IsBounded) {
  EXPECT_EQ(parse_target_list(std::string(kMaxListBytes + 1, ' ')).error().kind, core::Errc::too_long);
  std::string many = R"([{"targets": ["a")";
  for (std::size_t i = 1; i < kMaxListTargets; ++i) many += R"(,"a")";
  EXPECT_TRUE(parse_target_list(many + "]}]"));
  EXPECT_EQ(parse_target_list(many + R"(,"a"]}])").error().kind, core::Errc::too_long);
  EXPECT_FALSE(parse_target_list(std::string(1'000'000, '['))) << "and does not nest";
}

TEST(TargetAddress, IsAHostPerhapsWithAPort) {
  EXPECT_EQ(*parse_address("gpu-17.example"), (Address{"gpu-17.example", 0}));
  EXPECT_EQ(*parse_address("gpu-17:1"), (Address{"gpu-17", 1}));
  EXPECT_EQ(*parse_address("2001:db8::1"), (Address{"2001:db8::1", 0}));
  EXPECT_EQ(*parse_address("[fe80::1%eth0]:9401"), (Address{"fe80::1%eth0", 9401}));
  EXPECT_EQ(*parse_address("[::1]"), (Address{"::1", 0}));
}

TEST(TargetAddress, IsNothingElse) {
  for (const char* bad :
       {"", ":", ":9401", "a:", "a:0", "a:65536", "a:9401x", "a: 1", "[::1", "[]:1", "[a]:1", "[::1]9401",
        "::1::2", "a b", "http://a", "a/b", "a\n", "user@a", "a,name=b"})
    EXPECT_FALSE(parse_address(bad)) << bad;
  EXPECT_FALSE(parse_address(std::string(254, 'a')));
}

}  // namespace
}  // namespace rdma_exporter::discovery
