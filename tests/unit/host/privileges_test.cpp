// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/privileges.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/unit/support/temp_tree.h"

namespace rdma_exporter::host {
namespace {

/// A host as the exporter sees it from where it runs.
class PrivilegesTest : public ::testing::Test {
 protected:
  PrivilegesTest() {
    sys_.mkdir("class/infiniband/mlx5_0");
    sys_.write("class/infiniband_verbs/abi_version", "6\n");
    sys_.mkdir("class/infiniband_verbs/uverbs0");
    sys_.mkdir("class/infiniband_verbs/uverbs1");
    sys_.write("module/ib_core/parameters/netns_mode", "Y\n");
    proc_.write("sys/net/core/netdev_max_backlog", "1000\n");
    proc_.write("1/comm", "systemd\n");
    proc_.link("pid:[4026531836]", "self/ns/pid");
  }

  std::vector<MissingPrivilege> missing() {
    const auto sysfs = make_host_fs(sys_.root());
    const auto procfs = make_host_fs(proc_.root());
    return missing_privileges({*sysfs, *procfs,
                               [this](const std::string& name) {
                                 asked_for_.insert(name);
                                 return denied_ != name;
                               },
                               [this] { return netlink_; }, owners_wanted_, has_net_admin_,
                               can_open_packet_});
  }
  std::set<std::string_view> privileges() {
    std::set<std::string_view> names;
    for (const MissingPrivilege& one : missing()) names.insert(one.privilege);
    return names;
  }

  test::TempTree sys_;
  test::TempTree proc_;
  std::string denied_;
  bool netlink_ = true;
  bool owners_wanted_ = true;
  std::function<bool()> has_net_admin_;
  std::function<bool()> can_open_packet_;
  std::set<std::string> asked_for_;
};

using Names = std::set<std::string_view>;

TEST_F(PrivilegesTest, OnTheHostNothingIsMissing) {
  EXPECT_TRUE(missing().empty());
  EXPECT_EQ(asked_for_, (std::set<std::string>{"uverbs0", "uverbs1"}));
}

TEST_F(PrivilegesTest, CapabilitiesAreMissedByWhoWantsWhatNeedsThem) {
  has_net_admin_ = can_open_packet_ = [] { return false; };
  EXPECT_EQ(missing(), (std::vector<MissingPrivilege>{{"net_admin", "module"}, {"net_raw", "neighbor"}}));
  has_net_admin_ = can_open_packet_ = [] { return true; };
  EXPECT_TRUE(missing().empty());
}

TEST_F(PrivilegesTest, WithoutDevicesNothingIsLost) {
  sys_.remove("class/infiniband/mlx5_0");
  sys_.remove("module");
  proc_.remove("sys");
  proc_.remove("1");
  netlink_ = false;
  denied_ = "uverbs0";
  EXPECT_TRUE(missing().empty());
  sys_.remove("class");
  EXPECT_TRUE(missing().empty());
}

TEST_F(PrivilegesTest, OneVerbsDeviceThatCannotBeOpenedIsEnough) {
  denied_ = "uverbs1";
  EXPECT_EQ(missing(), (std::vector<MissingPrivilege>{{"verbs_device", "mtu"},
                                                      {"verbs_device", "async_events"},
                                                      {"verbs_device", "resource_limits"}}));
}

TEST_F(PrivilegesTest, DevicesWithoutVerbsNeedNone) {
  sys_.remove("class/infiniband_verbs");
  denied_ = "uverbs0";
  EXPECT_TRUE(missing().empty());
}

TEST_F(PrivilegesTest, NetlinkMayBeRefused) {
  netlink_ = false;
  EXPECT_EQ(privileges(), Names{"netlink"});
}

TEST_F(PrivilegesTest, AnotherNetworkNamespaceLosesOnlyWhatDevicesAreSharedWith) {
  proc_.remove("sys/net/core/netdev_max_backlog");
  EXPECT_EQ(privileges(), Names{"network_namespace"});
  sys_.write("module/ib_core/parameters/netns_mode", "N\n");
  EXPECT_TRUE(missing().empty());
  sys_.remove("module");  // before Linux 5.2 devices are always shared
  EXPECT_EQ(privileges(), Names{"network_namespace"});
}

TEST_F(PrivilegesTest, OwnersAreLostInAnotherPidNamespace) {
  proc_.remove("self/ns/pid");
  proc_.link("pid:[4026532000]", "self/ns/pid");
  EXPECT_EQ(missing(), (std::vector<MissingPrivilege>{{"pid_namespace", "owners"}}));
}

TEST_F(PrivilegesTest, OwnersAreLostWhereProcessesAreHidden) {
  proc_.remove("1");
  EXPECT_EQ(missing(), (std::vector<MissingPrivilege>{{"processes", "owners"}}));
}

TEST_F(PrivilegesTest, NobodyMissesOwnersThatNobodyWants) {
  proc_.remove("1");
  owners_wanted_ = false;
  EXPECT_TRUE(missing().empty());
}

}  // namespace
}  // namespace rdma_exporter::host
