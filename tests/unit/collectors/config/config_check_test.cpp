// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include <cerrno>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "host/netlink/address_message.h"
#include "task/background.h"
#include "tests/unit/collectors/collector_fixture.h"

namespace rdma_exporter::collectors {

extern const CollectorSpec config_check_spec;
extern const CollectorSpec roce_config_spec;

namespace {

// Runs what it is given at once, or keeps it: a reading that is stuck in the kernel.
class StubBackground : public task::Background {
 public:
  void start(std::function<void()> task) override {
    ++started;
    if (keep.contains(started)) return kept.push_back(std::move(task));
    task();
  }
  void tend() override { ++tended; }

  int started = 0;
  int tended = 0;
  std::set<int> keep;  ///< numbers of tasks, from 1
  std::vector<std::function<void()>> kept;
};

class ConfigCheckTest : public CollectorFixture {
 protected:
  ConfigCheckTest() : CollectorFixture(config_check_spec) {
    context_.background = &background_;
    route_script_->refusals[78] = EOPNOTSUPP;  // RTM_GETDCB
    add_soft_roce("rxe0", "ve0");
  }

  void add_soft_roce(const std::string& device, const std::string& netdev) const {
    add_port(device);
    tree_.write(device_path(device) + "parent", netdev + "\n");
    tree_.write(port_path(device) + "gids/0", "0000:0000:0000:0000:0000:ffff:0a09:0001\n");
    tree_.write(port_path(device) + "gid_attrs/types/0", "RoCE v2\n");
    tree_.write(port_path(device) + "hw_counters/lifespan", "10\n");
    tree_.write("class/net/" + netdev + "/mtu", "1500\n");
  }

  static std::string key(const std::string& check, const std::string& labels) {
    return "rdma_config_check{" + labels + ",check=\"" + check + "\"}";
  }

  StubBackground background_;
};

const std::string kNetdevOfRxe0 = R"(device="rxe0",port="1",netdev="ve0")";

TEST_F(ConfigCheckTest, ServesTheVerdictsOfWhatItCouldRead) {
  const Page page = collect();
  EXPECT_EQ(page.at(key("netdev_mtu", kNetdevOfRxe0)), 1);
  EXPECT_EQ(page.at(key("port_state", R"(device="rxe0",port="1",netdev="")")), 0);
  EXPECT_EQ(page.at(key("roce_gids", R"(device="rxe0",port="1",netdev="")")), 0);
  EXPECT_EQ(page.at(key("device_present", R"(device="",port="",netdev="")")), 0);
  EXPECT_FALSE(page.contains(key("kernel_hazards", R"(device="",port="",netdev="")"))) << "unknown is absent";
  for (const auto& [series, value] : page) {
    EXPECT_EQ(series.find("locked_memory"), std::string::npos) << "that is about who asks";
    EXPECT_EQ(series.find("retries"), std::string::npos) << "counters are not configuration";
  }
  EXPECT_TRUE(errors_.empty());
}

TEST_F(ConfigCheckTest, ReadsAgainAfterTheIntervalOnly) {
  collect();
  const int first = background_.started;
  tree_.write("class/net/ve0/mtu", "4200\n");
  pass(std::chrono::seconds(30));
  EXPECT_EQ(collect().at(key("netdev_mtu", kNetdevOfRxe0)), 1);
  EXPECT_EQ(background_.started, first);
  pass(std::chrono::seconds(31));
  EXPECT_EQ(collect().at(key("netdev_mtu", kNetdevOfRxe0)), 0);
  EXPECT_EQ(background_.started, 2 * first);
}

TEST_F(ConfigCheckTest, ReadsADeviceAgainAMinuteAfterAChange) {
  context_.config_check.interval = std::chrono::minutes(5);
  collect();
  const int first = background_.started;
  tree_.write("class/net/ve0/mtu", "4200\n");
  host_.changes->note("ve0");
  pass(std::chrono::seconds(30));
  EXPECT_EQ(collect().at(key("netdev_mtu", kNetdevOfRxe0)), 1);
  pass(std::chrono::seconds(31));
  EXPECT_EQ(collect().at(key("netdev_mtu", kNetdevOfRxe0)), 0);
  EXPECT_EQ(background_.started, first + 1) << "the device, not the host";
  pass(std::chrono::seconds(61));
  collect();
  EXPECT_EQ(background_.started, first + 1) << "nothing has changed since";
}

TEST_F(ConfigCheckTest, ListsTheAddressesOfTheHostOnceForAllDevices) {
  add_soft_roce("rxe1", "ve1");
  collect();
  EXPECT_EQ(background_.started, 3);
  EXPECT_EQ(route_script_->requests[host::kGetAddresses], 1);
}

TEST_F(ConfigCheckTest, ReadsNothingThatAnotherCollectorHasJustRead) {
  specs_ = {&port_spec, &roce_config_spec, specs_.front()};
  const std::string gid = port_path("rxe0") + "gids/0";
  const std::string traffic_class = device_path("rxe0") + "tc/1/traffic_class";
  tree_.write(traffic_class, "Global tclass=106\n");
  EXPECT_TRUE(collect().contains(key("roce_gids", R"(device="rxe0",port="1",netdev="")")));
  EXPECT_EQ(fs_->reads[gid], 1);
  EXPECT_EQ(fs_->reads[traffic_class], 1);
  EXPECT_EQ(verbs_->queries, 1);
}

TEST_F(ConfigCheckTest, OpensTheVerbsDeviceOnlyIfSomethingHasChanged) {
  host_.changes->set_complete(true);
  for (int minute = 0; minute < 4; ++minute) {
    collect();
    pass(std::chrono::seconds(61));
  }
  EXPECT_EQ(verbs_->queries, 1);
  host_.changes->note("rxe0");
  collect();
  EXPECT_EQ(verbs_->queries, 2);
  pass(std::chrono::seconds(301));
  collect();
  EXPECT_EQ(verbs_->queries, 3) << "a change may have been missed";
}

TEST_F(ConfigCheckTest, OpensTheVerbsDeviceInEachPassIfNothingTellsOfChanges) {
  for (int minute = 0; minute < 4; ++minute) {
    collect();
    pass(std::chrono::seconds(61));
  }
  EXPECT_EQ(verbs_->queries, 4);
}

TEST_F(ConfigCheckTest, ADeviceThatHangsCostsItsOwnChecks) {
  add_soft_roce("rxe1", "ve1");
  background_.keep = {2};  // the host, rxe0, rxe1
  const Page page = collect();
  EXPECT_FALSE(page.contains(key("netdev_mtu", kNetdevOfRxe0)));
  EXPECT_EQ(page.at(key("netdev_mtu", R"(device="rxe1",port="1",netdev="ve1")")), 1);
  EXPECT_EQ(page.at(key("device_present", R"(device="",port="",netdev="")")), 0);
  collect();
  EXPECT_EQ(background_.started, 3) << "it is not asked again";
  EXPECT_GT(background_.tended, 0);
  background_.kept.front()();
  EXPECT_EQ(collect().at(key("netdev_mtu", kNetdevOfRxe0)), 1) << "it came back";
}

TEST_F(ConfigCheckTest, WhatIsOldIsNotServed) {
  collect();
  background_.keep = {3, 4};
  pass(std::chrono::seconds(61));
  EXPECT_TRUE(collect().contains(key("netdev_mtu", kNetdevOfRxe0)));
  pass(std::chrono::seconds(200));
  EXPECT_FALSE(collect().contains(key("netdev_mtu", kNetdevOfRxe0)));
}

TEST_F(ConfigCheckTest, ADeviceThatGoesMeanwhileIsForgotten) {
  add_soft_roce("rxe1", "ve1");
  background_.keep = {3};
  collect();
  tree_.remove("class/infiniband/rxe1");
  collect();
  background_.kept.front()();
  for (const auto& [series, value] : collect()) EXPECT_EQ(series.find("rxe1"), std::string::npos) << series;
}

TEST_F(ConfigCheckTest, AHostWithoutRdmaIsQuiet) {
  tree_.remove("class/infiniband");
  EXPECT_TRUE(collect().empty());
}

}  // namespace
}  // namespace rdma_exporter::collectors
