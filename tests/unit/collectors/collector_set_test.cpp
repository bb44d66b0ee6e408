// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/collector_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "tests/unit/support/temp_tree.h"

namespace rdma_exporter::collectors {

extern const CollectorSpec device_spec;
extern const CollectorSpec port_spec;

namespace {

// One with a job for the host and for each device, and one with jobs for devices alone.
constexpr std::array kCollectors{&device_spec, &port_spec};

class CollectorSetTest : public ::testing::Test {
 protected:
  void add_device(const std::string& name) const {
    tree_.write("class/infiniband/" + name + "/ports/1/state", "4: ACTIVE\n");
  }
  CollectorSet make(const std::string& unwanted = "") {
    return {context_, kCollectors, [unwanted](const std::string& name) { return name != unwanted; }};
  }
  static std::set<std::string> names(const CollectorSet& set) {
    std::set<std::string> all;
    for (const auto& job : set.jobs()) all.insert(std::string(job->collector()) + "/" + job->device());
    return all;
  }

  test::TempTree tree_;
  host::Host host_{.sysfs = host::make_host_fs(tree_.root()),
                   .procfs = host::make_host_fs(tree_.path("proc"))};
  Context context_{host_};
};

TEST_F(CollectorSetTest, HasTheJobsOfTheHostWithoutAnyDevice) {
  CollectorSet set = make();
  EXPECT_TRUE(set.refresh().value()) << "the first look makes the list";
  EXPECT_EQ(names(set), std::set<std::string>{"device/"});
  EXPECT_FALSE(set.refresh().value());
}

TEST_F(CollectorSetTest, HasOneJobPerCollectorAndDevice) {
  add_device("a");
  add_device("b");
  CollectorSet set = make();
  ASSERT_TRUE(set.refresh().value());
  EXPECT_EQ(names(set), (std::set<std::string>{"device/", "device/a", "port/a", "device/b", "port/b"}));
  EXPECT_EQ(set.jobs().size(), 5U);
}

TEST_F(CollectorSetTest, KeepsTheJobsOfADeviceThatStays) {
  add_device("a");
  add_device("b");
  CollectorSet set = make();
  ASSERT_TRUE(set.refresh().value());
  const CollectorSet::Jobs before = set.jobs();
  tree_.remove("class/infiniband/a");
  add_device("c");
  ASSERT_TRUE(set.refresh().value());
  const CollectorSet::Jobs after = set.jobs();
  for (const auto& job : before) {
    const bool stays = std::find(after.begin(), after.end(), job) != after.end();
    EXPECT_EQ(stays, job->device() != "a") << job->collector() << "/" << job->device();
  }
}

TEST_F(CollectorSetTest, MakesNewJobsForADeviceRegisteredAnew) {
  add_device("a");
  CollectorSet set = make();
  ASSERT_TRUE(set.refresh().value());
  const CollectorSet::Jobs before = set.jobs();
  tree_.remove("class/infiniband/a");
  add_device("a");
  ASSERT_TRUE(set.refresh().value());
  const CollectorSet::Jobs after = set.jobs();
  ASSERT_EQ(after.size(), before.size());
  for (const auto& job : before)
    EXPECT_EQ(std::find(after.begin(), after.end(), job) != after.end(), job->device().empty());
}

TEST_F(CollectorSetTest, LeavesExcludedDevicesAlone) {
  add_device("a");
  add_device("b");
  CollectorSet set = make("a");
  ASSERT_TRUE(set.refresh().value());
  for (const auto& job : set.jobs()) EXPECT_NE(job->device(), "a");
  EXPECT_EQ(set.jobs().size(), 3U);
}

TEST_F(CollectorSetTest, SaysWhenTheListOfDevicesCannotBeRead) {
  tree_.write("class/infiniband", "a file");
  CollectorSet set = make();
  EXPECT_FALSE(set.refresh().has_value());
}

TEST(AllCollectors, HaveNamesOfTheirOwnThatFitIntoFlags) {
  std::set<std::string_view> names;
  for (const CollectorSpec* spec : all_collectors()) {
    EXPECT_TRUE(names.insert(spec->name).second) << spec->name;
    EXPECT_EQ(spec->name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"), std::string_view::npos);
    EXPECT_FALSE(spec->help.empty());
    EXPECT_FALSE(spec->families().empty());
  }
  EXPECT_GE(names.size(), 4U);
}

}  // namespace
}  // namespace rdma_exporter::collectors
