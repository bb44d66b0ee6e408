// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Synthetic trees after net/core/net-sysfs.c, drivers/net/bonding/bond_sysfs.c and the links lower_* and
// master of net/core/dev.c.
#include "host/topology/netdev.h"

#include <gtest/gtest.h>

#include "host/netlink/nldev/nldev.h"
#include "tests/unit/support/recorded_netlink.h"
#include "tests/unit/support/temp_tree.h"
#include "tests/unit/support/watched_fs.h"

namespace rdma_exporter::host {
namespace {

class NetdevTest : public ::testing::Test {
 protected:
  using Found = std::vector<std::string>;  ///< "eth0 port mlx5_0/1"

  NetdevTest() {
    auto fs = std::make_unique<test::WatchedFs>(make_host_fs(tree_.root()));
    fs_ = fs.get();
    host_.sysfs = std::move(fs);
    host_.make_netlink = [this](NetlinkProtocol) { return std::make_unique<test::ScriptedNetlink>(script_); };
  }

  /// A device with `ports` ports; the first GID of port n is that of netdevs[n - 1].
  Device& add_device(const std::string& name, const Found& netdevs) {
    auto device = std::make_shared<Device>();
    device->name = name;
    device->path = "class/infiniband/" + name;
    for (std::uint32_t port = 1; port <= netdevs.size(); ++port) {
      device->ports.push_back(port);
      if (!netdevs[port - 1].empty())
        tree_.write(device->port_path(port) + "/gid_attrs/ndevs/0", netdevs[port - 1] + "\n");
    }
    devices_.push_back(device);
    return *device;
  }
  /// An interface of a PCI function of its own.
  void add_netdev(const std::string& name, const std::string& pci, const std::string& port = "0") const {
    const std::string path = "devices/pci/" + pci + "/net/" + name;
    tree_.write(path + "/dev_port", port + "\n");
    tree_.link("../..", path + "/device");
    tree_.link("../../" + path, "class/net/" + name);
    if (!std::filesystem::is_symlink(tree_.path("devices/pci/" + pci + "/driver")))
      tree_.link("../../bus/pci/drivers/mlx5_core", "devices/pci/" + pci + "/driver");
  }
  void add_software(const std::string& name) const { tree_.write("class/net/" + name + "/dev_port", "0\n"); }
  void add_lower(const std::string& upper, const std::string& lower) const {
    tree_.link("../" + lower, "class/net/" + upper + "/lower_" + lower);
  }
  void add_bond(const std::string& name, const Found& members) const {
    add_software(name);
    tree_.mkdir("class/net/" + name + "/bonding");
    for (const std::string& member : members) {
      add_lower(name, member);
      tree_.link("../../../../../class/net/" + name, "class/net/" + member + "/master");
    }
  }
  void set_switch(const std::string& netdev, const std::string& id, const std::string& port_name) const {
    tree_.write("class/net/" + netdev + "/phys_switch_id", id + "\n");
    tree_.write("class/net/" + netdev + "/phys_port_name", port_name + "\n");
  }

  bool refresh() { return netdevs().refresh(devices_, false, now_); }
  Found find() {
    refresh();
    Found found;
    for (const auto& netdev : netdevs().all())
      found.push_back(netdev->name + " " + std::string(to_string(netdev->role)) + " " + netdev->device + "/" +
                      std::to_string(netdev->port));
    return found;
  }
  Netdevs& netdevs() {
    if (!netdevs_) netdevs_.emplace(host_);
    return *netdevs_;
  }
  void pass_interval() { now_ += Netdevs::kInterval; }

  test::TempTree tree_;
  test::WatchedFs* fs_ = nullptr;
  std::shared_ptr<test::Script> script_ = std::make_shared<test::Script>();
  Host host_;
  std::vector<std::shared_ptr<const Device>> devices_;
  std::optional<Netdevs> netdevs_;
  Netdevs::Clock::time_point now_;
};

TEST_F(NetdevTest, FindsThePortsInterfaceByItsFirstGid) {
  add_device("mlx5_0", {"eth0"});
  add_netdev("eth0", "0");
  EXPECT_EQ(find(), (Found{"eth0 port mlx5_0/1"}));
  EXPECT_EQ(netdevs().all().front()->driver, "mlx5_core");
}

TEST_F(NetdevTest, WaitsForNoFirmwareAsAllDevicesWaitForThisSearch) {
  add_device("mlx5_0", {"eth0"}).netlink_index = 0;
  add_netdev("eth0", "0");
  EXPECT_EQ(find(), (Found{"eth0 port mlx5_0/1"}));
  EXPECT_TRUE(script_->requests.empty());
}

TEST_F(NetdevTest, FindsPortsWithoutGidsByDevPort) {
  const Device& device = add_device("mlx4_0", {"", ""});
  tree_.link("../../../devices/pci/0", device.path + "/device");
  add_netdev("ens1", "0", "0");
  add_netdev("ens1d1", "0", "1");
  EXPECT_EQ(find(), (Found{"ens1 port mlx4_0/1", "ens1d1 port mlx4_0/2"}));
}

TEST_F(NetdevTest, ListsAnInterfaceThatSeveralDevicesShareOnce) {
  add_device("mlx5_0", {"eth0"});
  add_device("rxe0", {"eth0"});
  add_netdev("eth0", "0");
  EXPECT_EQ(find(), (Found{"eth0 port mlx5_0/1"}));
}

TEST_F(NetdevTest, LeavesOutWhatIsInAnotherNamespace) {
  add_device("mlx5_0", {"pod0"});
  EXPECT_TRUE(find().empty());
}

TEST_F(NetdevTest, GoesFromABondToItsMembers) {
  add_netdev("eth0", "0");
  add_netdev("eth1", "1");
  add_bond("bond0", {"eth0", "eth1"});
  add_device("mlx5_bond_0", {"bond0"});
  EXPECT_EQ(find(),
            (Found{"bond0 bond mlx5_bond_0/1", "eth0 member mlx5_bond_0/1", "eth1 member mlx5_bond_0/1"}));
}

// mlx5 with RoCE LAG names the active member in netlink: the traffic uses the other wire too.
TEST_F(NetdevTest, GoesFromAMemberToItsBondAndTheOtherMembers) {
  add_netdev("eth0", "0");
  add_netdev("eth1", "1");
  add_bond("bond0", {"eth0", "eth1"});
  add_device("mlx5_bond_0", {"eth0"});
  EXPECT_EQ(find(),
            (Found{"bond0 bond mlx5_bond_0/1", "eth0 port mlx5_bond_0/1", "eth1 member mlx5_bond_0/1"}));
}

TEST_F(NetdevTest, KnowsMembersWithAnRdmaDeviceOfTheirOwnAsPorts) {
  add_netdev("eth0", "0");
  add_netdev("eth1", "1");
  add_bond("bond0", {"eth0", "eth1"});
  add_device("irdma0", {"eth0"});
  add_device("irdma1", {"eth1"});
  EXPECT_EQ(find(), (Found{"bond0 bond irdma0/1", "eth0 port irdma0/1", "eth1 port irdma1/1"}));
}

TEST_F(NetdevTest, TakesABridgeForNoBond) {
  add_netdev("eth0", "0");
  add_netdev("eth9", "9");
  add_software("br0");
  add_lower("br0", "eth0");
  add_lower("br0", "eth9");
  tree_.link("../../../../../class/net/br0", "class/net/eth0/master");
  add_device("mlx5_0", {"eth0"});
  EXPECT_EQ(find(), (Found{"eth0 port mlx5_0/1"}));
}

TEST_F(NetdevTest, ReplacesAVlanByWhatIsBelowIt) {
  add_netdev("eth0", "0");
  add_software("eth0.100");
  add_lower("eth0.100", "eth0");
  add_device("rxe0", {"eth0.100"});
  EXPECT_EQ(find(), (Found{"eth0 lower rxe0/1"}));
}

TEST_F(NetdevTest, GoesFromAVlanOnABondToTheMembers) {
  add_netdev("eth0", "0");
  add_netdev("eth1", "1");
  add_bond("bond0", {"eth0", "eth1"});
  add_software("bond0.7");
  add_lower("bond0.7", "bond0");
  add_device("rxe0", {"bond0.7"});
  EXPECT_EQ(find(), (Found{"bond0 bond rxe0/1", "eth0 member rxe0/1", "eth1 member rxe0/1"}));
}

TEST_F(NetdevTest, AddsThePhysicalFunctionOfAVirtualOne) {
  add_netdev("eth0", "pf", "0");
  add_netdev("eth0d1", "pf", "1");
  add_netdev("eth0v3", "vf3", "0");
  tree_.link("../pf", "devices/pci/vf3/physfn");
  add_device("mlx5_3", {"eth0v3"});
  EXPECT_EQ(find(), (Found{"eth0 physical mlx5_3/1", "eth0v3 port mlx5_3/1"}));
}

TEST_F(NetdevTest, FindsNoPhysicalFunctionInAVirtualMachine) {
  add_netdev("eth0", "vf3");
  add_device("mlx5_0", {"eth0"});
  EXPECT_EQ(find(), (Found{"eth0 port mlx5_0/1"}));
}

// Switchdev mode: one RDMA device with the uplink as port 1 and a port per function.
TEST_F(NetdevTest, SkipsRepresentorsAndKeepsTheUplink) {
  add_netdev("eth0", "pf");
  set_switch("eth0", "a1b2", "p0");
  for (const char* name : {"pf0vf0", "c1pf0vf0", "pf0sf88", "pf0hpf", "0"}) {
    add_netdev(std::string("rep_") + name, "pf");
    set_switch(std::string("rep_") + name, "a1b2", name);
  }
  add_device("mlx5_0", {"eth0", "rep_pf0vf0", "rep_c1pf0vf0", "rep_pf0sf88", "rep_pf0hpf", "rep_0"});
  EXPECT_EQ(find(), (Found{"eth0 port mlx5_0/1"}));
}

TEST_F(NetdevTest, KeepsTheHalvesOfASplitPort) {
  add_netdev("eth0", "0");
  set_switch("eth0", "a1b2", "p1s2");
  add_device("mlx5_0", {"eth0"});
  EXPECT_EQ(find().size(), 1U);
}

TEST_F(NetdevTest, AsksARepresentorOnceWhatItIs) {
  add_netdev("rep", "pf");
  set_switch("rep", "a1b2", "pf0vf0");
  add_device("mlx5_0", {"rep"});
  find();
  pass_interval();
  find();
  pass_interval();
  EXPECT_TRUE(find().empty());
  EXPECT_EQ(fs_->opens["class/net/rep/phys_switch_id"], 1) << "it waits for the RTNL lock";
}

TEST_F(NetdevTest, CostsOneStatPerInterfaceUntilTheIntervalIsOver) {
  add_device("mlx5_0", {"eth0"});
  add_netdev("eth0", "0");
  find();
  fs_->opens.clear();
  fs_->lists.clear();
  EXPECT_FALSE(refresh());
  EXPECT_TRUE(fs_->opens.empty() && fs_->lists.empty());
}

TEST_F(NetdevTest, NoticesAtOnceThatAnInterfaceWasRenamed) {
  add_device("mlx5_0", {"eth0"});
  add_netdev("eth0", "0");
  find();
  tree_.remove("class/net/eth0");
  tree_.remove("devices/pci/0/net/eth0");
  add_netdev("ens1", "0");
  tree_.write("class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0", "ens1\n");
  EXPECT_EQ(find(), (Found{"ens1 port mlx5_0/1"}));
}

TEST_F(NetdevTest, KeepsTheRegistrationOfAnInterfaceThatStays) {
  add_device("mlx5_0", {"eth0"});
  add_netdev("eth0", "0");
  find();
  const auto first = netdevs().all().front();
  pass_interval();
  EXPECT_FALSE(refresh());
  EXPECT_EQ(netdevs().all().front(), first);
}

class SysfsNetdevTest : public NetdevTest {
 protected:
  SysfsNetdevTest() {
    auto fs = std::make_unique<test::WatchedSysfs>(make_host_fs(tree_.root()));
    fs_ = fs.get();
    host_.sysfs = std::move(fs);
    add_device("mlx5_0", {"eth0", "eth1"});
    add_netdev("eth0", "0");
    add_netdev("eth1", "1");
    add_software("lo");
  }
};

TEST_F(SysfsNetdevTest, CostsOneLookAtTheListForAllInterfaces) {
  EXPECT_EQ(find(), (Found{"eth0 port mlx5_0/1", "eth1 port mlx5_0/2"}));
  fs_->opens.clear();
  fs_->lists.clear();
  fs_->stats.clear();
  fs_->fingerprints.clear();
  EXPECT_FALSE(refresh());
  EXPECT_TRUE(fs_->opens.empty() && fs_->stats.empty() && fs_->lists.empty());
  EXPECT_EQ(fs_->fingerprints, (std::map<std::string, int>{{"class/net", 1}}));
}

TEST_F(SysfsNetdevTest, NoticesAtOnceThatAnInterfaceWasRegisteredAgain) {
  find();
  const auto first = netdevs().all();
  std::filesystem::rename(tree_.path("class/net/eth0"), tree_.path("class/net/spare"));
  tree_.remove("devices/pci/0/net/eth0");
  add_netdev("eth0", "0");
  EXPECT_TRUE(refresh());
  EXPECT_NE(netdevs().all().front(), first.front());
  EXPECT_EQ(netdevs().all().back(), first.back());
}

TEST_F(SysfsNetdevTest, NoticesAtOnceThatAnInterfaceHasGone) {
  find();
  tree_.remove("class/net/eth1");
  EXPECT_EQ(find(), (Found{"eth0 port mlx5_0/1"}));
}

TEST_F(SysfsNetdevTest, LooksNoMoreForInterfacesThatHaveNothingToDoWithADevice) {
  find();
  add_software("veth0");
  fs_->stats.clear();
  EXPECT_FALSE(refresh());
  EXPECT_TRUE(fs_->stats.empty());
}

TEST_F(SysfsNetdevTest, SearchesOnceAMinuteWhileTheListStaysTheSame) {
  find();
  pass_interval();
  refresh();  // follows the first one
  fs_->opens.clear();
  now_ += Netdevs::kQuietInterval - std::chrono::nanoseconds(1);
  refresh();
  EXPECT_TRUE(fs_->opens.empty());
  now_ += std::chrono::nanoseconds(1);
  refresh();
  EXPECT_FALSE(fs_->opens.empty());
}

TEST_F(SysfsNetdevTest, SearchesSoonWhenTheListHasChangedOrTheKernelToldOfAnInterface) {
  find();
  pass_interval();
  refresh();
  for (const bool listed : {true, false}) {
    if (listed) add_software("veth0");
    if (!listed) host_.changes->note_links();
    refresh();
    fs_->opens.clear();
    pass_interval();
    refresh();
    EXPECT_FALSE(fs_->opens.empty());
    pass_interval();  // for the other one
    refresh();
  }
}

// An interface that goes with nothing told of it shows when the known ones are looked at.
class QuietNetdevTest : public NetdevTest {
 protected:
  QuietNetdevTest() {
    add_device("mlx5_0", {"eth0"});
    add_netdev("eth0", "0");
    find();
    pass_interval();
    host_.changes->set_complete(true);
    find();
  }
  void rename() {
    tree_.remove("class/net/eth0");
    tree_.remove("devices/pci/0/net/eth0");
    add_netdev("ens1", "0");
    tree_.write("class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0", "ens1\n");
  }
};

TEST_F(QuietNetdevTest, LooksWhenTheKernelToldOfAnyInterface) {
  rename();
  EXPECT_FALSE(refresh());
  host_.changes->note("ens1");  // the old name is not told
  host_.changes->note_links();
  EXPECT_EQ(find(), (Found{"ens1 port mlx5_0/1"}));
}

TEST_F(QuietNetdevTest, LooksWhenTheKernelToldOfDevices) {
  rename();
  host_.changes->note_all();
  EXPECT_TRUE(refresh());
}

TEST_F(QuietNetdevTest, LooksEachTimeWhereNotEverythingIsTold) {
  rename();
  host_.changes->set_complete(false);
  EXPECT_TRUE(refresh());
}

TEST_F(QuietNetdevTest, LooksNowAndThenWhateverIsTold) {
  rename();
  now_ += Netdevs::kQuietInterval - std::chrono::nanoseconds(1);
  EXPECT_FALSE(refresh());
  now_ += std::chrono::nanoseconds(1);
  EXPECT_TRUE(refresh());
}

// The GID table follows an interface by a work queue: the search at the event may have been too early.
TEST_F(QuietNetdevTest, LooksAgainSomeTimeAfterAnEvent) {
  add_netdev("eth1", "1");
  host_.changes->note("eth1");
  host_.changes->note_links();
  EXPECT_FALSE(refresh());
  tree_.write("class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0", "eth1\n");
  EXPECT_FALSE(refresh());
  pass_interval();
  EXPECT_EQ(find(), (Found{"eth1 port mlx5_0/1"}));
}

}  // namespace
}  // namespace rdma_exporter::host
