// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Contract: everything exported is in the tables, with exactly the labels of its row; and the tables contain
// little that nothing here exports.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "collectors/resource/resource_families.h"
#include "core/labels.h"
#include "tests/contract/page.h"

namespace rdma_exporter::collectors {
extern const CollectorSpec ethtool_spec;
}

namespace rdma_exporter::test {
namespace {

// The names in a rendered block, in order, separated by commas. Values may hold anything, quotes escaped.
std::string label_names(std::string_view block) {
  std::string names;
  while (!block.empty()) {
    const std::size_t equals = block.find("=\"");
    if (equals == std::string_view::npos) return "no labels: " + std::string(block);
    names.append(names.empty() ? "" : ",").append(block.substr(0, equals));
    std::size_t end = equals + 2;
    while (end < block.size() && block[end] != '"') end += block[end] == '\\' ? 2U : 1U;
    block.remove_prefix(std::min(block.size(), end + 1));
    if (block.starts_with(',')) block.remove_prefix(1);
  }
  return names;
}

TEST(LabelNames, AreReadFromABlock) {
  EXPECT_EQ(label_names(R"(device="d",counter="a,b=\"c\" \\")"), "device,counter");
  EXPECT_EQ(label_names(""), "");
}

TEST(EmittedFamilies, AreInTheTablesWithTheLabelsOfTheirRow) {
  const auto families = collector_families();
  const std::set<const core::MetricDesc*> known(families.begin(), families.end());
  for (const auto& [name, root] : all_trees()) {
    TreeHost host(root);
    std::size_t samples = 0;
    for (const auto& run : host.collect()) {
      EXPECT_TRUE(run->read_errors().empty()) << name << ": " << run->read_errors().front().first;
      for (const core::Sample& sample : run->samples().samples()) {
        ++samples;
        ASSERT_TRUE(known.contains(sample.metric)) << name << ": " << sample.metric->name;
        EXPECT_EQ(label_names(sample.labels()), sample.metric->labels) << name << ": " << sample.metric->name;
      }
    }
    EXPECT_GT(samples, 30U) << name;
  }
}

// A label that has no value on any host is most often a file whose name is misspelled.
TEST(EmittedFamilies, HaveAValueForEachLabelOnSomeHost) {
  std::set<std::string> labels;
  std::set<std::string> with_value;
  for (const auto& [name, root] : all_trees()) {
    TreeHost host(root);
    for (const auto& run : host.collect()) {
      for (const core::Sample& sample : run->samples().samples()) {
        core::for_each_label(sample.labels(), [&](std::string_view label, std::string_view value) {
          const std::string id = std::string(sample.metric->name) + "{" + std::string(label) + "}";
          labels.insert(id);
          if (!value.empty()) with_value.insert(id);
        });
      }
    }
  }
  EXPECT_GT(labels.size(), 100U);
  for (const std::string& label : labels)
    EXPECT_TRUE(with_value.contains(label))
        << label << " is empty on every host of the tests: check the name of "
        << "the file it is read from, or add a host that has it";
}

// A collector emits only families of its own list: otherwise the writer would drop them without a word.
TEST(EmittedFamilies, AreInTheListOfTheirCollector) {
  std::set<std::string_view> emitting;
  for (const auto& [name, root] : all_trees()) {
    for (const collectors::CollectorSpec* spec : collectors::all_collectors()) {
      TreeHost host(root, {&spec, 1});
      const auto families = spec->families();
      for (const auto& run : host.collect()) {
        for (const core::Sample& sample : run->samples().samples()) {
          emitting.insert(spec->name);
          EXPECT_NE(std::find(families.begin(), families.end(), sample.metric), families.end())
              << name << ": " << sample.metric->name << " of " << spec->name;
        }
      }
    }
  }
  for (const char* collector : {"device", "port", "port_counters", "hw_counters"})
    EXPECT_TRUE(emitting.contains(collector)) << collector;
}

TEST(EmittedFamilies, AreNearlyAllThatTheTablesHave) {
  std::set<std::string_view> emitted;
  for (const auto& [name, root] : all_trees()) {
    TreeHost host(root);
    for (const auto& run : host.collect())
      for (const core::Sample& sample : run->samples().samples()) emitted.insert(sample.metric->name);
  }
  // Only the verbs device tells the MTUs, and a tree of files has none, nor events; every file of
  // ports/N/counters that these drivers have is curated.
  std::set<std::string_view> elsewhere{
      "rdma_port_active_mtu_bytes",
      "rdma_port_max_mtu_bytes",
      "rdma_device_async_events_total",
      "rdma_exporter_async_events_up",
      "rdma_exporter_event_source_up",
      "rdma_exporter_events_received_total",
      "rdma_exporter_event_losses_total",
      "rdma_config_check",
      "rdma_config_checks"};  // a reading in the background: rdma_config_check_test.cpp
  // Only a live kernel has driver statistics: see ethtool_once_test.cpp.
  for (const core::MetricDesc* family : collectors::ethtool_spec.families()) elsewhere.insert(family->name);
  // Only netlink tells these, frames of a neighbour, or files of debugfs and of a vendor's driver.
  for (const collectors::CollectorSpec* spec : collectors::all_collectors())
    if (spec->name == "ethtool_standard" || spec->name == "dcb" || spec->name == "roce_config" ||
        spec->name == "devlink" || spec->name == "module" || spec->name == "neighbor" ||
        spec->name == "burst")
      for (const core::MetricDesc* family : spec->families()) elsewhere.insert(family->name);
  elsewhere.erase("rdma_netdev_mtu_bytes");
  // Only netlink tells of resources (tests/unit/collectors/resource/resource_test.cpp).
  const auto resources = collectors::resource_families();
  const auto of_resources = [&](const core::MetricDesc* family) {
    return std::find(resources.begin(), resources.end(), family) != resources.end();
  };
  for (const core::MetricDesc* family : collector_families())
    EXPECT_NE(emitted.contains(family->name), elsewhere.contains(family->name) || of_resources(family))
        << family->name
        << " has to be in a recording, or in `elsewhere` if none can show it, and not in both";
}

}  // namespace
}  // namespace rdma_exporter::test
