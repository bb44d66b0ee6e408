// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/page/page_head.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/version.h"

namespace rdma_exporter::app {
namespace {

using testing::HasSubstr;
using testing::Not;

config::Config with(const std::string& path, const std::string& recording) {
  config::Config config;
  config.web.telemetry_path = path;
  config.replay = recording;
  return config;
}

TEST(PageHead, LinksToTheMetricsAndNamesTheVersion) {
  const std::string head = page_head(with("/my/metrics", ""), {}, true);
  for (const char* link : {"/my/metrics", "/report", "/-/healthy", "/-/ready"})
    EXPECT_THAT(head, HasSubstr("<a href=\"" + std::string(link) + "\">"));
  EXPECT_THAT(head, HasSubstr(std::string(kVersion)));
  EXPECT_THAT(page_head(with("/my/metrics", ""), {}, false), Not(HasSubstr("href")))
      << "a report stands alone";
}

TEST(PageHead, SaysWhenItsValuesAreRecorded) {
  const std::string head = page_head(with("/metrics", "tests/recordings/x"), {}, true);
  EXPECT_THAT(head, HasSubstr("these values are not from this host"));
  EXPECT_THAT(head, HasSubstr("tests/recordings/x"));
  EXPECT_THAT(page_head(with("/metrics", ""), {}, true), Not(HasSubstr("Recording")));
}

TEST(PageHead, SaysWhichPrivilegesAreMissing) {
  EXPECT_THAT(page_head(with("/metrics", ""), {{"verbs_device", "limits"}}, true),
              HasSubstr("verbs_device (limits)"));
  EXPECT_THAT(page_head(with("/metrics", ""), {}, true), Not(HasSubstr("rivileges are missing")));
}

TEST(PageHead, EscapesWhatComesFromOutside) {
  const std::string head = page_head(with("/\"><b>", "<i>"), {}, true);
  EXPECT_THAT(head, HasSubstr("href=\"/&quot;&gt;&lt;b&gt;\""));
  EXPECT_THAT(head, HasSubstr("&lt;i&gt;"));
  for (const char* raw : {"<i>", "<b>"}) EXPECT_THAT(head, Not(HasSubstr(raw)));
}

}  // namespace
}  // namespace rdma_exporter::app
