// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/setup/collector_settings.h"

#include <gtest/gtest.h>

namespace rdma_exporter::app {
namespace {

using scrape::Selection;

const std::map<std::string, config::CollectorConfig, std::less<>> kCollectors{
    {"device", {}}, {"port", {}}, {"resource", {.enabled = false}}};

core::Result<Selection> select(std::vector<std::string> collect, std::vector<std::string> exclude = {}) {
  return select_collectors({std::move(collect), std::move(exclude)}, kCollectors);
}

TEST(SelectCollectors, TakesAllWithoutAFilter) { EXPECT_EQ(select({}).value(), Selection()); }

TEST(SelectCollectors, TakesTheNamedOrAllButTheNamed) {
  EXPECT_EQ(select({"port", "port"}).value(), Selection({"port"}));
  EXPECT_EQ(select({}, {"port"}).value(), Selection({"device"}));
  EXPECT_EQ(select({}, {"resource"}).value(), Selection({"device", "port"})) << "off anyway";
}

TEST(SelectCollectors, RefusesNamesWithAMessage) {
  EXPECT_EQ(core::to_string(select({"port", "nic"}).error()), "collect[]: unknown collector \"nic\"");
  EXPECT_EQ(core::to_string(select({}, {""}).error()), "exclude[]: unknown collector \"\"");
  EXPECT_EQ(core::to_string(select({"resource"}).error()),
            "collect[]: the collector \"resource\" is switched off");
  const std::string hostile = core::to_string(select({"a\n<b>\xff"}).error());
  EXPECT_EQ(hostile.find('\n'), std::string::npos);
  EXPECT_EQ(hostile.find('\xff'), std::string::npos);
}

}  // namespace
}  // namespace rdma_exporter::app
