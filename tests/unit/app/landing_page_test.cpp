// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/landing_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "app/version.h"

namespace rdma_exporter::app {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(LandingPage, LinksToTheMetricsAndNamesTheVersion) {
  const std::string page = landing_page("/my/metrics", {}, "");
  EXPECT_THAT(page, HasSubstr("<a href=\"/my/metrics\">"));
  EXPECT_THAT(page, HasSubstr("<a href=\"/-/healthy\">"));
  EXPECT_THAT(page, HasSubstr("<a href=\"/-/ready\">"));
  EXPECT_THAT(page, HasSubstr(std::string(kVersion)));
}

TEST(LandingPage, ListsTheDevices) {
  const std::vector<std::string> devices{"mlx5_0", "mlx5_1"};
  const std::string page = landing_page("/metrics", devices, "");
  EXPECT_THAT(page, HasSubstr("RDMA devices found: 2"));
  EXPECT_THAT(page, HasSubstr("<li>mlx5_0</li>\n<li>mlx5_1</li>"));
}

TEST(LandingPage, SaysThatThereAreNoDevices) {
  EXPECT_THAT(landing_page("/metrics", {}, ""), HasSubstr("No RDMA devices"));
}

TEST(LandingPage, SaysWhenItsValuesAreRecorded) {
  EXPECT_THAT(landing_page("/metrics", {}, "tests/recordings/x"), HasSubstr("not values of this host"));
  EXPECT_THAT(landing_page("/metrics", {}, "tests/recordings/x"), HasSubstr("tests/recordings/x"));
  EXPECT_THAT(landing_page("/metrics", {}, ""), Not(HasSubstr("Recording")));
}

TEST(LandingPage, EscapesWhatComesFromOutside) {
  const std::vector<std::string> devices{"<script>&\"", "bad\xff"};
  const std::string page = landing_page("/\"><b>", devices, "<i>");
  EXPECT_THAT(page, HasSubstr("<li>&lt;script&gt;&amp;&quot;</li>"));
  EXPECT_THAT(page, HasSubstr("<li>bad\\xff</li>"));
  EXPECT_THAT(page, HasSubstr("href=\"/&quot;&gt;&lt;b&gt;\""));
  EXPECT_THAT(page, HasSubstr("&lt;i&gt;"));
  for (const char* raw : {"<script>", "<i>", "<b>"}) EXPECT_THAT(page, Not(HasSubstr(raw)));
}

}  // namespace
}  // namespace rdma_exporter::app
