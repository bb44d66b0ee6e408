// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Contract: docs/METRICS.md equals the output of --describe=markdown, and --describe=json agrees with it. To
// update it:
//
//   build/release/rdma_exporter --describe=markdown > docs/METRICS.md
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "app/metrics/describe.h"
#include "app/metrics/families.h"
#include "collectors/collector.h"

namespace rdma_exporter::app {
namespace {

using testing::HasSubstr;

TEST(MetricsDocument, IsUpToDate) {
  std::ifstream file(SOURCE_DIR "/docs/METRICS.md", std::ios::binary);
  ASSERT_TRUE(file.good());
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  EXPECT_TRUE(text == describe_markdown()) << "regenerate docs/METRICS.md, see the head of this file";
}

TEST(MetricsDocument, NamesEveryFamilyAndEveryKnownCounter) {
  const std::string text = describe_markdown();
  for (const core::MetricDesc* family : all_families())
    EXPECT_THAT(text, HasSubstr("\n| `" + std::string(family->name) + "` | "));
  for (const collectors::CollectorSpec* spec : collectors::all_collectors())
    for (const collectors::CounterTable& table : spec->tables())
      for (const collectors::CounterRow& row : table.rows)
        EXPECT_THAT(text, HasSubstr("\n| `" + std::string(row.raw) + "` | "));
}

// In a table of Markdown a bar in a text would begin another cell.
TEST(MetricsDocument, HasCellsWithoutBars) {
  for (const core::MetricDesc* family : all_families())
    for (const std::string_view text : {family->help, family->source, family->unit})
      EXPECT_EQ(text.find('|'), std::string_view::npos) << family->name;
}

TEST(MetricsDocument, IsTheSameForPrograms) {
  const auto document = nlohmann::json::parse(describe_json());
  const auto families = all_families();
  ASSERT_EQ(document["metrics"].size(), families.size());
  for (std::size_t i = 0; i < families.size(); ++i) {
    const auto& metric = document["metrics"][i];
    EXPECT_EQ(metric["name"], families[i]->name);
    EXPECT_EQ(metric["type"], core::to_string(families[i]->type));
    EXPECT_EQ(metric["help"], families[i]->help);
    std::string labels;
    for (const auto& label : metric["labels"])
      labels += (labels.empty() ? "" : ",") + label.get<std::string>();
    EXPECT_EQ(labels, families[i]->labels);
  }
  std::size_t rows = 0;
  for (const collectors::CollectorSpec* spec : collectors::all_collectors())
    for (const collectors::CounterTable& table : spec->tables()) rows += table.rows.size();
  EXPECT_EQ(document["counters"].size(), rows);
  bool checked = false;
  for (const auto& row : document["counters"]) {
    if (row["raw"] == "port_rcv_data") {
      EXPECT_EQ(row["metric"], "rdma_port_data_bytes_total");
      EXPECT_EQ(row["labels"], nlohmann::json({{"direction", "rx"}}));
      EXPECT_EQ(row["scale"], 4);
      EXPECT_EQ(row["source"], "ports/N/counters");
      checked = true;
    }
  }
  EXPECT_TRUE(checked);
}

}  // namespace
}  // namespace rdma_exporter::app
