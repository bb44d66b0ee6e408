// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "web/scrape_request.h"

#include <gtest/gtest.h>

namespace rdma_exporter::web {
namespace {

using std::chrono::milliseconds;

constexpr Timeouts kTimeouts{milliseconds(8000), milliseconds(500)};

TEST(WebScrapeTime, TakesTheConfiguredTimeWhenTheClientSaysNothing) {
  EXPECT_EQ(scrape_time(kTimeouts, ""), milliseconds(8000));
}

TEST(WebScrapeTime, KeepsTheOffsetBackOutOfTheTimeOfTheClient) {
  EXPECT_EQ(scrape_time(kTimeouts, "5"), milliseconds(4500));
  EXPECT_EQ(scrape_time(kTimeouts, "2.25"), milliseconds(1750));
  EXPECT_EQ(scrape_time(kTimeouts, "1e0"), milliseconds(500));
}

TEST(WebScrapeTime, NeverExceedsTheConfiguredTime) {
  EXPECT_EQ(scrape_time(kTimeouts, "8.5"), milliseconds(8000));
  EXPECT_EQ(scrape_time(kTimeouts, "60.000000"), milliseconds(8000));
  EXPECT_EQ(scrape_time(kTimeouts, "1e300"), milliseconds(8000));
}

TEST(WebScrapeTime, GivesHalfToAClientThatWaitsNoLongerThanTheOffset) {
  EXPECT_EQ(scrape_time(kTimeouts, "0.5"), milliseconds(250));
  EXPECT_EQ(scrape_time(kTimeouts, "0.1"), milliseconds(50));
}

TEST(WebScrapeTime, IgnoresWhatIsNoPositiveNumberOfSeconds) {
  for (const std::string_view header : {"0", "-1", "-0.0", "abc", "5s", " 5", "5 ", "+5", "nan", "inf",
                                        "-inf", "1e400", "0x10", "1,5", "5,5", "\xff", "."}) {
    EXPECT_EQ(scrape_time(kTimeouts, header), milliseconds(8000)) << header;
  }
}

}  // namespace
}  // namespace rdma_exporter::web
