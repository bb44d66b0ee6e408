// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "web/scrape_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rdma_exporter::web {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(WebFilter, WantsEverythingWithoutParameters) {
  for (const char* query : {"", "&", "debug=1", "collectors=port", "collect[x]=port", "&&x&=y"}) {
    const auto filter = parse_filter(query);
    ASSERT_TRUE(filter) << query;
    EXPECT_THAT(filter->collect, IsEmpty()) << query;
    EXPECT_THAT(filter->exclude, IsEmpty()) << query;
  }
}

TEST(WebFilter, ReadsNamesAsBrowsersAndPrometheusSendThem) {
  EXPECT_THAT(parse_filter("collect[]=port&collect[]=device")->collect, ElementsAre("port", "device"));
  EXPECT_THAT(parse_filter("a=b&exclude%5B%5D=hw%5Fcounters&c")->exclude, ElementsAre("hw_counters"));
  EXPECT_THAT(parse_filter("collect%5b%5d=a+b%20c%2B")->collect, ElementsAre("a b c+"));
  EXPECT_THAT(parse_filter("collect[]=")->collect, ElementsAre(""));
  EXPECT_THAT(parse_filter("collect[]")->collect, ElementsAre(""));
  EXPECT_THAT(parse_filter("collect[]=a=b")->collect, ElementsAre("a=b"));
}

TEST(WebFilter, RefusesBothKindsAtOnce) {
  const auto filter = parse_filter("collect[]=port&exclude[]=device");
  ASSERT_FALSE(filter);
  EXPECT_EQ(core::to_string(filter.error()), "collect[] and exclude[] cannot be combined");
}

TEST(WebFilter, RefusesNamesWithoutBracketsInsteadOfIgnoringThem) {
  for (const char* query : {"collect=port", "collect", "a=b&collect=port&collect[]=device"}) {
    const auto filter = parse_filter(query);
    ASSERT_FALSE(filter) << query;
    EXPECT_EQ(core::to_string(filter.error()), "collect: unknown parameter (did you mean collect[]?)");
  }
  EXPECT_FALSE(parse_filter("exclude=dcb"));
}

TEST(WebFilter, RefusesBrokenEscapes) {
  for (const char* query : {"collect[]=%", "collect[]=%4", "collect[]=%zz", "%5=x", "collect[]=a%2", "a=%-1"})
    EXPECT_FALSE(parse_filter(query)) << query;
}

using core::Format;

// What the servers send, of which there are more than one kind.
constexpr std::string_view kProtobuf =
    "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited";
constexpr std::string_view kPrometheus242 =
    "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
    "text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
constexpr std::string_view kPrometheus3 =
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,"
    "application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,"
    "text/plain;version=0.0.4;q=0.2,*/*;q=0.1";

TEST(WebNegotiate, GivesEachServerWhatItLikesBest) {
  EXPECT_EQ(preferred_format(kPrometheus242), Format::openmetrics);
  EXPECT_EQ(preferred_format(kPrometheus3), Format::openmetrics);
  EXPECT_EQ(preferred_format(std::string(kProtobuf) + ",application/openmetrics-text;version=1.0.0;q=0.8,"
                                                      "application/openmetrics-text;version=0.0.1;q=0.75,"
                                                      "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"),
            Format::protobuf);
}

TEST(WebNegotiate, GivesTextToThoseWhoDoNotSayOrNameNothingThatIsServed) {
  for (const char* accept :
       {"", "*/*", "text/plain", "text/*;q=0.2", "image/png", "application/json", ",,;q=1,", "q", ";;",
        "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
        "text/plain;version=1.0.0;escaping=allow-utf-8", "application/openmetrics-text;version=0.0.1",
        "application/openmetrics-text;version=2.0.0", "application/vnd.google.protobuf",
        "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=text",
        "application/vnd.google.protobuf;proto=another.Message;encoding=delimited"})
    EXPECT_EQ(preferred_format(accept), Format::text) << accept;
}

TEST(WebNegotiate, GoesByWeightThenByOrder) {
  EXPECT_EQ(preferred_format("text/plain;q=0.3, application/openmetrics-text ; q=0.4"), Format::openmetrics);
  EXPECT_EQ(preferred_format("text/plain;q=0.4,application/openmetrics-text;q=0.3"), Format::text);
  EXPECT_EQ(preferred_format("text/plain,application/openmetrics-text"), Format::text);
  EXPECT_EQ(preferred_format("application/openmetrics-text,text/plain"), Format::openmetrics);
  EXPECT_EQ(preferred_format("APPLICATION/OpenMetrics-Text;VERSION=1.0.0;Q=0.5,text/plain;q=0.1"),
            Format::openmetrics);
}

TEST(WebNegotiate, TakesNoFormatWithWeightZeroOrABrokenWeight) {
  for (const char* weight : {"0", "0.0", "-1", "1.1", "inf", "nan", "x", "", "1e0", "0.5x", "0x1"})
    EXPECT_EQ(preferred_format(std::string("application/openmetrics-text;q=") + weight), Format::text)
        << weight;
  EXPECT_EQ(preferred_format("application/openmetrics-text;q=0.001"), Format::openmetrics);
}

TEST(WebNegotiate, CompressesForThoseWhoAllowIt) {
  for (const char* allows : {"gzip", "deflate, gzip;q=0.1", "x-gzip", "*", "br;q=1.0, *;q=0.5", "GZIP",
                             " gzip ; q=1.000 ", "identity;q=0, gzip"})
    EXPECT_TRUE(accepts_gzip(allows)) << allows;
  for (const char* forbids :
       {"", "identity", "br, deflate", "gzip;q=0", "gzip;q=0.000, *", "*;q=0", "gzip;q=no", "gzipped"})
    EXPECT_FALSE(accepts_gzip(forbids)) << forbids;
}

TEST(WebNegotiate, SaysWhatItSends) {
  EXPECT_EQ(content_type(Format::text), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_EQ(content_type(Format::openmetrics), "application/openmetrics-text; version=1.0.0; charset=utf-8");
  EXPECT_EQ(content_type(Format::protobuf),
            "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited");
}

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
