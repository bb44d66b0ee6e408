// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "tests/contract/page.h"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <utility>

#include "app/metrics/families.h"
#include "core/text/number.h"

namespace rdma_exporter::test {

TreeHost::TreeHost(const std::string& sysfs_root, std::span<const collectors::CollectorSpec* const> specs)
    : host_{.sysfs = host::make_host_fs(sysfs_root), .procfs = host::make_host_fs(sysfs_root + "/../proc")},
      collectors_(context_, specs, [](const std::string&) { return true; }) {}

const std::vector<std::unique_ptr<core::JobRun>>& TreeHost::collect() {
  EXPECT_TRUE(collectors_.refresh().has_value());
  ++cycle_;
  runs_.clear();
  for (const auto& job : collectors_.jobs()) {
    runs_.push_back(std::make_unique<core::JobRun>(cycle_));
    job->run(*runs_.back());
  }
  return runs_;
}

std::map<std::string, std::string> TreeHost::page() {
  std::map<std::string, std::string> page;
  for (const auto& run : collect()) {
    for (const core::Sample& sample : run->samples().samples()) {
      std::string series(sample.metric->name);
      series.append("{").append(sample.labels()).append("}");
      std::array<char, core::kNumberSize> value{};
      const char* end = sample.is_real ? core::write_number(value.data(), sample.real)
                                       : core::write_number(value.data(), sample.integer);
      EXPECT_TRUE(page.emplace(series, std::string(std::as_const(value).data(), end)).second)
          << "twice: " << series;
    }
  }
  return page;
}

std::map<std::string, std::string> all_trees() {
  std::map<std::string, std::string> trees;
  for (const char* folder : {SOURCE_DIR "/tests/recordings", TREES_DIR})
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      trees[entry.path().filename().string()] = (entry.path() / "sys").string();
  EXPECT_TRUE(trees.contains("soft-roce-host"));
  EXPECT_GE(trees.size(), 14U);
  return trees;
}

std::vector<const core::MetricDesc*> collector_families() {
  std::vector<const core::MetricDesc*> all;
  for (const app::FamilyGroup& group : app::family_groups())
    if (group.name != "exporter" && group.name != "probe")
      all.insert(all.end(), group.families.begin(), group.families.end());
  return all;
}

}  // namespace rdma_exporter::test
