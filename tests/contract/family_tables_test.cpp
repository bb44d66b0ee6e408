// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Contract: Prometheus accepts every family in the tables, and no family occurs twice.
#include <gtest/gtest.h>
#include <prometheus/check_names.h>

#include <set>
#include <string>

#include "app/metrics/families.h"

namespace rdma_exporter::app {
namespace {

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    parts.emplace_back(text.substr(0, comma));
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return parts;
}

TEST(FamilyTables, HaveNamesThatPrometheusTakes) {
  ASSERT_GT(all_families().size(), 50U);
  for (const core::MetricDesc* family : all_families())
    EXPECT_TRUE(prometheus::CheckMetricName(std::string(family->name))) << family->name;
}

TEST(FamilyTables, HaveLabelsThatPrometheusTakesEachOnce) {
  for (const core::MetricDesc* family : all_families()) {
    std::set<std::string> seen;
    for (const std::string& label : split(family->labels)) {
      EXPECT_TRUE(prometheus::CheckLabelName(label)) << family->name << " " << label;
      EXPECT_TRUE(seen.insert(label).second) << family->name << " " << label;
      EXPECT_FALSE(label == "job" || label == "instance") << "Prometheus sets it: " << family->name;
    }
  }
}

TEST(FamilyTables, HaveNoFamilyTwice) {
  std::set<std::string_view> names;
  for (const core::MetricDesc* family : all_families())
    EXPECT_TRUE(names.insert(family->name).second) << family->name;
}

// OpenMetrics forbids a family whose name is also that of another one's samples: `rdma_x` (from rdma_x_total)
// beside a gauge rdma_x, or beside another family's rdma_x_count.
TEST(FamilyTables, HaveNamesThatDoNotClashInOpenMetrics) {
  std::set<std::string> names;
  for (const core::MetricDesc* family : all_families()) {
    const std::string name(core::openmetrics_name(*family));
    std::set<std::string> own{name};
    if (family->type == core::MetricType::counter) own.insert({name + "_total", name + "_created"});
    if (family->type == core::MetricType::histogram)
      own.insert({name + "_bucket", name + "_sum", name + "_count", name + "_created"});
    if (core::is_info(*family)) own.insert(name + "_info");
    for (const std::string& one : own) EXPECT_TRUE(names.insert(one).second) << family->name << ": " << one;
  }
}

TEST(FamilyTables, FollowTheRulesOfOneRow) {
  for (const core::MetricDesc* family : all_families()) {
    EXPECT_TRUE(core::valid(*family)) << family->name;
    EXPECT_FALSE(family->help.ends_with('.')) << family->name << ": the documents add it";
  }
}

}  // namespace
}  // namespace rdma_exporter::app
