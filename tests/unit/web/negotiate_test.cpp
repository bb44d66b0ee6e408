// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "web/scrape_request.h"

#include <gtest/gtest.h>

namespace rdma_exporter::web {
namespace {

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

}  // namespace
}  // namespace rdma_exporter::web
