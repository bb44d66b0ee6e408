// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "web/scrape_request.h"

#include <gmock/gmock.h>

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

}  // namespace
}  // namespace rdma_exporter::web
