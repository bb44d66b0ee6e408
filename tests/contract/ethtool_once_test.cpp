// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Contract: driver statistics are not exported twice either. With the default configuration, a change of one
// statistic changes exactly one series, or none if the statistic is not exported.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "collectors/collector_set.h"
#include "collectors/ethtool/ethtool_table.h"
#include "config/config.h"
#include "tests/unit/support/fake_ethtool.h"
#include "tests/unit/support/temp_tree.h"

namespace rdma_exporter::collectors {
extern const CollectorSpec ethtool_spec;
}

namespace rdma_exporter::test {
namespace {

/// A host with one RDMA port, whose interface has the statistics of one driver.
class EthtoolHost {
 public:
  EthtoolHost(const std::string& driver, const std::string& list) {
    tree_.write("class/infiniband/d/ports/1/gid_attrs/ndevs/0", "eth0\n");
    tree_.link("../../../../bus/pci/drivers/" + driver, "class/net/eth0/device/driver");
    auto kernel = std::make_unique<FakeEthtool>();
    kernel->interfaces["eth0"] = listed_interface(list);
    nic_ = &kernel->interfaces["eth0"];
    host_.sysfs = host::make_host_fs(tree_.root());
    host_.procfs = host::make_host_fs(tree_.path("proc"));
    host_.ethtool = std::move(kernel);
    context_.ethtool.interval = std::chrono::milliseconds(0);
    const config::EthtoolConfig defaults;
    context_.metrics.set = core::MetricSet::full;
    context_.enabled = {"ethtool"};
    context_.ethtool.raw_exclude = defaults.raw_exclude;
  }

  FakeEthtool::Interface& nic() { return *nic_; }

  /// `name{labels}` -> value, without what changes by itself.
  std::map<std::string, double> page() {
    EXPECT_TRUE(set_.refresh().has_value());
    std::map<std::string, double> page;
    for (const auto& job : set_.jobs()) {
      core::JobRun run(1);
      job->run(run);
      EXPECT_TRUE(run.read_errors().empty() && run.dropped().empty());
      for (const core::Sample& sample : run.samples().samples()) {
        families_.insert(sample.metric->name);
        if (sample.metric->name == "rdma_netdev_statistics_age_seconds") continue;
        const double value = sample.is_real ? sample.real : static_cast<double>(sample.integer);
        const std::string series = std::string(sample.metric->name) + "{" + sample.labels() + "}";
        EXPECT_TRUE(page.emplace(series, value).second) << "twice: " << series;
      }
    }
    return page;
  }
  const std::set<std::string_view>& families() const { return families_; }

 private:
  TempTree tree_;
  host::Host host_;
  collectors::Context context_{host_};
  const collectors::CollectorSpec* spec_ = &collectors::ethtool_spec;
  collectors::CollectorSet set_{context_, {&spec_, 1}, [](const std::string&) { return true; }};
  FakeEthtool::Interface* nic_ = nullptr;
  std::set<std::string_view> families_;
};

const std::map<std::string, std::string>& lists() {  // driver -> list
  static const std::map<std::string, std::string> kLists{{"mlx4_core", "mlx4"}, {"mlx5_core", "mlx5"}};
  static const std::map<std::string, std::string> kAll = [] {
    std::map<std::string, std::string> all;
    for (const auto& table : collectors::ethtool_tables()) {
      const std::string driver(table.driver);
      all[driver] = kLists.contains(driver) ? kLists.at(driver) : driver;
    }
    return all;
  }();
  return kAll;
}

std::size_t differences(const std::map<std::string, double>& before,
                        const std::map<std::string, double>& after) {
  std::size_t differences = before.size() == after.size() ? 0 : 1000;
  for (const auto& [series, value] : before) {
    const auto it = after.find(series);
    if (it == after.end() || it->second != value) ++differences;
  }
  return differences;
}

class EthtoolOnce : public ::testing::TestWithParam<std::string> {};

TEST_P(EthtoolOnce, OfADriver) {
  EthtoolHost host(GetParam(), lists().at(GetParam()));
  auto before = host.page();
  std::size_t exported = 0;
  for (std::size_t i = 0; i < host.nic().names.size(); ++i) {
    host.nic().values[i] += 1'000'000;
    auto after = host.page();
    const std::size_t changed = differences(before, after);
    EXPECT_LE(changed, 1U) << host.nic().names[i];
    exported += changed;
    before = std::move(after);
  }
  EXPECT_GT(exported, 10U);
  EXPECT_LE(before.size(), exported + 1) << "a series that no statistic moves";
}

std::vector<std::string> drivers() {
  std::vector<std::string> drivers;
  for (const auto& [driver, list] : lists()) drivers.push_back(driver);
  return drivers;
}

INSTANTIATE_TEST_SUITE_P(Drivers, EthtoolOnce, ::testing::ValuesIn(drivers()),
                         [](const auto& driver) { return driver.param; });

TEST(EthtoolFamilies, AreAllEmittedForOneDriverOrAnother) {
  std::set<std::string_view> emitted;
  for (const auto& [driver, list] : lists()) {
    EthtoolHost host(driver, list);
    host.page();
    emitted.insert(host.families().begin(), host.families().end());
  }
  for (const core::MetricDesc* family : collectors::ethtool_spec.families())
    EXPECT_TRUE(emitted.contains(family->name)) << family->name;
}

}  // namespace
}  // namespace rdma_exporter::test
