// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/topology/inventory.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "tests/unit/support/fake_ethtool.h"
#include "tests/unit/support/recorded_netlink.h"
#include "tests/unit/support/temp_tree.h"
#include "tests/unit/support/watched_fs.h"

namespace rdma_exporter::host {
namespace {

class InventoryTest : public ::testing::Test {
 protected:
  void add_rxe(const std::string& name) const {
    tree_.write("class/infiniband/" + name + "/parent", "ve0\n");
    tree_.write("class/infiniband/" + name + "/ports/1/state", "4: ACTIVE\n");
  }
  std::vector<std::string> names(const Inventory& inventory) const {
    std::vector<std::string> all;
    for (const auto& device : inventory.devices()) all.push_back(device->name);
    return all;
  }

  test::TempTree tree_;
  std::shared_ptr<test::Script> script_ = std::make_shared<test::Script>();
  Host host_{
      .sysfs = make_host_fs(tree_.root()),
      .procfs = nullptr,
      .make_netlink = [this](NetlinkProtocol) { return std::make_unique<test::ScriptedNetlink>(script_); },
      .verbs = nullptr,
      .open_files = OpenFileBudget(100)};
};

bool everything(const std::string& /*name*/) { return true; }

TEST_F(InventoryTest, IsEmptyWithoutRdma) {
  Inventory inventory(host_, everything);
  EXPECT_FALSE(inventory.refresh().value());
  EXPECT_TRUE(inventory.devices().empty());
}

TEST_F(InventoryTest, JoinsSysfsWithTheNetlinkDump) {
  add_rxe("rxe0");
  add_rxe("other");
  script_->answers[nldev::kGet] = {test::recorded_message("get_0.bin"), test::recorded_message("get_1.bin")};
  Inventory inventory(host_, everything);
  EXPECT_TRUE(inventory.refresh().value());
  ASSERT_EQ(names(inventory), (std::vector<std::string>{"other", "rxe0"}));
  EXPECT_EQ(inventory.devices()[0]->netlink_index, std::nullopt);
  EXPECT_EQ(inventory.devices()[1]->netlink_index, 0U);
  EXPECT_EQ(inventory.devices()[1]->protocol, "roce");
  EXPECT_EQ(inventory.devices()[1]->driver, Driver::rxe);
  EXPECT_EQ(inventory.devices()[1]->ports, (std::vector<std::uint32_t>{1}));
}

TEST_F(InventoryTest, WorksWhereNetlinkRefuses) {
  add_rxe("rxe0");
  script_->refusals[nldev::kGet] = EPROTONOSUPPORT;
  Inventory inventory(host_, everything);
  EXPECT_TRUE(inventory.refresh().value());
  EXPECT_EQ(inventory.devices().front()->netlink_index, std::nullopt);
}

TEST_F(InventoryTest, KeepsTheSameObjectWhileNothingChanges) {
  add_rxe("rxe0");
  Inventory inventory(host_, everything);
  ASSERT_TRUE(inventory.refresh().value());
  const auto before = inventory.devices().front();
  EXPECT_FALSE(inventory.refresh().value());
  EXPECT_EQ(inventory.devices().front(), before);
}

TEST_F(InventoryTest, TakesADeviceOfTheSameNameForANewOne) {
  add_rxe("rxe0");
  script_->answers[nldev::kGet] = {test::recorded_message("get_0.bin")};
  Inventory inventory(host_, everything);
  ASSERT_TRUE(inventory.refresh().value());
  auto before = inventory.devices().front();
  tree_.remove("class/infiniband/rxe0");
  add_rxe("rxe0");
  EXPECT_TRUE(inventory.refresh().value());
  EXPECT_NE(inventory.devices().front(), before);
  // The same directory, but another index in netlink: registered again between two looks.
  before = inventory.devices().front();
  script_->answers[nldev::kGet][0][4] = std::byte{2};
  EXPECT_TRUE(inventory.refresh().value());
  EXPECT_EQ(inventory.devices().front()->netlink_index, 2U);
  EXPECT_NE(inventory.devices().front(), before);
}

// A dump may be refused or break off (EINTR: devices changed under it). What is remembered of a device must
// not go with it.
TEST_F(InventoryTest, KeepsTheSameObjectWhenTheDumpFails) {
  add_rxe("rxe0");
  script_->answers[nldev::kGet] = {test::recorded_message("get_0.bin")};
  Inventory inventory(host_, everything);
  ASSERT_TRUE(inventory.refresh().value());
  const auto before = inventory.devices().front();
  script_->refusals[nldev::kGet] = EINTR;
  EXPECT_FALSE(inventory.refresh().value());
  EXPECT_EQ(inventory.devices().front(), before);
  script_->refusals.clear();
  EXPECT_FALSE(inventory.refresh().value());
  EXPECT_EQ(inventory.devices().front(), before);
}

TEST_F(InventoryTest, TakesTheIndexFromTheNextDumpThatWorks) {
  add_rxe("rxe0");
  script_->refusals[nldev::kGet] = EINTR;
  Inventory inventory(host_, everything);
  ASSERT_TRUE(inventory.refresh().value());
  EXPECT_EQ(inventory.devices().front()->netlink_index, std::nullopt);
  script_->refusals.clear();
  script_->answers[nldev::kGet] = {test::recorded_message("get_0.bin")};
  EXPECT_TRUE(inventory.refresh().value());
  EXPECT_EQ(inventory.devices().front()->netlink_index, 0U);
}

// The kernel shows a device, then its attributes, then one port after the other. The times of plain
// directories would tell; those of sysfs do not, so the device's directory keeps its own here.
TEST_F(InventoryTest, LooksAgainForPortsThatComeLater) {
  tree_.mkdir("class/infiniband/rxe0/ports");
  Inventory inventory(host_, everything);
  ASSERT_TRUE(inventory.refresh().value());
  EXPECT_TRUE(inventory.devices().front()->ports.empty());
  EXPECT_FALSE(inventory.refresh().value()) << "nothing new";
  tree_.mkdir("class/infiniband/rxe0/ports/1");
  EXPECT_TRUE(inventory.refresh().value());
  EXPECT_EQ(inventory.devices().front()->ports, (std::vector<std::uint32_t>{1}));
  tree_.mkdir("class/infiniband/rxe0/ports/2");
  EXPECT_TRUE(inventory.refresh().value());
  EXPECT_EQ(inventory.devices().front()->ports, (std::vector<std::uint32_t>{1, 2}));
}

TEST_F(InventoryTest, SeesDevicesComeAndGo) {
  add_rxe("a");
  add_rxe("b");
  Inventory inventory(host_, everything);
  ASSERT_TRUE(inventory.refresh().value());
  tree_.remove("class/infiniband/a");
  add_rxe("c");
  EXPECT_TRUE(inventory.refresh().value());
  EXPECT_EQ(names(inventory), (std::vector<std::string>{"b", "c"}));
}

TEST_F(InventoryTest, LeavesUnwantedDevicesAlone) {
  add_rxe("a");
  add_rxe("b");
  Inventory inventory(host_, [](const std::string& name) { return name != "a"; });
  ASSERT_TRUE(inventory.refresh().value());
  EXPECT_EQ(names(inventory), (std::vector<std::string>{"b"}));
}

TEST_F(InventoryTest, TakesTheDriverFromTheParentNotFromTheName) {
  tree_.link("../../bus/pci/drivers/bnxt_en", "class/infiniband/mlx5_0/device/driver");
  tree_.write("class/infiniband/mlx5_0/ports/2/state", "");
  tree_.write("class/infiniband/mlx5_0/ports/10/state", "");
  tree_.write("class/infiniband/mlx5_0/ports/x/state", "");
  Inventory inventory(host_, everything);
  ASSERT_TRUE(inventory.refresh().value());
  EXPECT_EQ(inventory.devices().front()->driver, Driver::bnxt_re);
  EXPECT_EQ(inventory.devices().front()->parent_driver, "bnxt_en");
  EXPECT_EQ(inventory.devices().front()->ports, (std::vector<std::uint32_t>{2, 10}));
}

TEST_F(InventoryTest, AsksWhoKnowsTheCountersOfADriverThatIsNotNamed) {
  tree_.write("class/infiniband/named/ports/1/hw_counters/a", "");
  tree_.link("../../bus/pci/drivers/bnxt_en", "class/infiniband/named/device/driver");
  tree_.write("class/infiniband/nameless/node_type", "4: RNIC\n");
  tree_.mkdir("class/infiniband/nameless/ports/1");
  tree_.write("class/infiniband/nameless/ports/2/hw_counters/a", "");
  tree_.write("class/infiniband/nameless/ports/2/hw_counters/b", "");
  Inventory inventory(host_, everything, [](std::span<const std::string> counters) {
    EXPECT_EQ(std::vector(counters.begin(), counters.end()), (std::vector<std::string>{"a", "b"}));
    return Driver::irdma;
  });
  ASSERT_TRUE(inventory.refresh().value());
  EXPECT_EQ(inventory.devices()[0]->driver, Driver::bnxt_re);
  EXPECT_EQ(inventory.devices()[1]->driver, Driver::irdma);
}

TEST_F(InventoryTest, KnowsADriverThatIsNotNamedByTheTypeOfTheAdapter) {
  tree_.write("class/infiniband/d/hca_type", "MT4129\n");
  tree_.write("class/infiniband/d/ports/1/hw_counters/a", "");
  Inventory inventory(host_, everything, [](auto&&) { return Driver::irdma; });
  ASSERT_TRUE(inventory.refresh().value());
  EXPECT_EQ(inventory.devices().front()->driver, Driver::mlx5);
}

class NetdevDriverTest : public InventoryTest {
 protected:
  NetdevDriverTest() {
    auto kernel = std::make_unique<test::FakeEthtool>();
    kernel->interfaces["eth0"].driver = "ionic";
    kernel_ = kernel.get();
    host_.ethtool = std::move(kernel);
    tree_.write("class/infiniband/d/node_type", "1: CA\n");
    tree_.write("class/infiniband/d/ports/1/gid_attrs/ndevs/0", "eth0\n");
  }
  Driver driver(Inventory::Recognise recognise = nullptr) {
    Inventory inventory(host_, everything, std::move(recognise));
    EXPECT_TRUE(inventory.refresh().value());
    return inventory.devices().front()->driver;
  }
  test::FakeEthtool* kernel_ = nullptr;
};

// The names of ionic's counters come from its firmware.
TEST_F(NetdevDriverTest, IsTakenWhereNothingElseTells) { EXPECT_EQ(driver(), Driver::ionic); }

TEST_F(NetdevDriverTest, IsNotAskedForWhereSomethingElseTells) {
  tree_.write("class/infiniband/d/ports/1/hw_counters/a", "");
  EXPECT_EQ(driver([](auto&&) { return Driver::irdma; }), Driver::irdma);
  tree_.link("../../bus/pci/drivers/virtio-pci", "class/infiniband/d/device/driver");
  EXPECT_EQ(driver(), Driver::unknown);
  EXPECT_TRUE(kernel_->calls.empty());
}

// Soft-iWARP over an adapter that has a driver of its own.
TEST_F(NetdevDriverTest, IsNotThatOfSoftIwarp) {
  tree_.write("class/infiniband/d/node_type", "4: RNIC\n");
  EXPECT_EQ(driver(), Driver::siw);
}

TEST_F(NetdevDriverTest, IsUnknownForABondAndForAnInterfaceThatIsGone) {
  kernel_->interfaces["eth0"].driver = "bonding";
  EXPECT_EQ(driver(), Driver::unknown);
  kernel_->interfaces.clear();
  EXPECT_EQ(driver(), Driver::unknown);
}

TEST_F(InventoryTest, KnowsSoftIwarpByItsNodeType) {
  tree_.write("class/infiniband/siw0/node_type", "4: RNIC\n");
  Inventory inventory(host_, everything);
  ASSERT_TRUE(inventory.refresh().value());
  EXPECT_EQ(inventory.devices().front()->driver, Driver::siw);
}

// A device that is registered anew, with nothing told of it, shows when the inventory looks behind the names.
class QuietInventoryTest : public InventoryTest {
 protected:
  QuietInventoryTest() {
    add_rxe("rxe0");
    EXPECT_TRUE(refresh());
    EXPECT_FALSE(refresh()) << "looks the same twice";
    host_.changes->set_complete(true);
  }
  bool refresh() { return inventory_.refresh(now_).value(); }
  void register_anew(const std::string& name) const {
    tree_.remove("class/infiniband/" + name);
    add_rxe(name);
  }

  Inventory::Clock::time_point now_;
  Inventory inventory_{host_, everything};
};

TEST_F(QuietInventoryTest, LooksBehindTheNamesWhenTheKernelToldOfDevices) {
  register_anew("rxe0");
  EXPECT_FALSE(refresh());
  host_.changes->note_all();
  EXPECT_TRUE(refresh());
}

TEST_F(QuietInventoryTest, LooksNowAndThenWhateverIsTold) {
  register_anew("rxe0");
  now_ += Inventory::kInterval - std::chrono::nanoseconds(1);
  EXPECT_FALSE(refresh());
  now_ += std::chrono::nanoseconds(1);
  EXPECT_TRUE(refresh());
}

TEST_F(QuietInventoryTest, LooksEachTimeWhereNotEverythingIsTold) {
  register_anew("rxe0");
  host_.changes->set_complete(false);
  EXPECT_TRUE(refresh());
}

class SysfsLike : public test::WatchedFs {
 public:
  using WatchedFs::WatchedFs;
  bool directories_change() const override { return false; }
  core::Result<FileId> stat(const std::string& path) override {
    ++stats;
    return WatchedFs::stat(path);
  }
  core::Result<std::vector<DirEntry>> entries(const std::string& path) override {
    auto entries = WatchedFs::entries(path);
    for (DirEntry& entry : *entries) entry.inode = inode;
    return entries;
  }
  std::uint64_t inode = 7;
  int stats = 0;
};

TEST_F(InventoryTest, KnowsDevicesByTheirLinksWhereNotEverythingIsTold) {
  add_rxe("rxe0");
  auto watched = std::make_unique<SysfsLike>(make_host_fs(tree_.root()));
  SysfsLike* const sysfs = watched.get();
  host_.sysfs = std::move(watched);
  Inventory inventory(host_, everything);
  Inventory::Clock::time_point now;
  for (int i = 0; i < 3; ++i) inventory.refresh(now);
  const int before = sysfs->stats;
  inventory.refresh(now);
  EXPECT_EQ(sysfs->stats, before) << "the same link";
  ++sysfs->inode;
  inventory.refresh(now);
  EXPECT_GT(sysfs->stats, before) << "another link";
  const int later = sysfs->stats;
  inventory.refresh(now);
  EXPECT_EQ(sysfs->stats, later);
  inventory.refresh(now + Inventory::kInterval);
  EXPECT_GT(sysfs->stats, later) << "now and then";
  sysfs->inode = 0;
  inventory.refresh(now);
  const int unknown = sysfs->stats;
  inventory.refresh(now);
  EXPECT_GT(sysfs->stats, unknown) << "nothing shows that they are the same";
}

TEST_F(InventoryTest, ListsNoNamesWhileTheListIsTheSame) {
  add_rxe("rxe0");
  auto watched = std::make_unique<test::WatchedSysfs>(make_host_fs(tree_.root()));
  test::WatchedSysfs* const sysfs = watched.get();
  host_.sysfs = std::move(watched);
  Inventory inventory(host_, everything);
  const Inventory::Clock::time_point now;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(inventory.refresh(now).has_value());
  sysfs->lists.clear();
  EXPECT_FALSE(inventory.refresh(now).value());
  EXPECT_TRUE(sysfs->lists.empty());
  add_rxe("rxe1");
  EXPECT_TRUE(inventory.refresh(now).value());
  EXPECT_EQ(names(inventory), (std::vector<std::string>{"rxe0", "rxe1"}));
  tree_.remove("class/infiniband");
  EXPECT_TRUE(inventory.refresh(now).value());
  EXPECT_TRUE(inventory.devices().empty());
}

TEST_F(QuietInventoryTest, SeesAtOnceWhatComesAndGoesWithoutBeingTold) {
  add_rxe("rxe1");
  EXPECT_TRUE(refresh());
  EXPECT_EQ(names(inventory_), (std::vector<std::string>{"rxe0", "rxe1"}));
  tree_.remove("class/infiniband/rxe0");
  EXPECT_TRUE(refresh());
  EXPECT_EQ(names(inventory_), (std::vector<std::string>{"rxe1"}));
}

TEST_F(QuietInventoryTest, LooksUntilADeviceIsWhole) {
  tree_.mkdir("class/infiniband/rxe1");  // its ports come later
  EXPECT_TRUE(refresh());
  tree_.write("class/infiniband/rxe1/ports/1/state", "4: ACTIVE\n");
  EXPECT_TRUE(refresh()) << "nothing told of that";
  EXPECT_EQ(inventory_.devices()[1]->ports, (std::vector<std::uint32_t>{1}));
}

TEST_F(QuietInventoryTest, LooksUntilTheNetlinkDumpIsWhole) {
  script_->answers[nldev::kGet] = {};
  script_->refusals[nldev::kGet] = EAGAIN;
  host_.changes->note_all();
  EXPECT_FALSE(refresh());
  script_->refusals.clear();
  script_->answers[nldev::kGet] = {test::recorded_message("get_0.bin"), test::recorded_message("get_1.bin")};
  EXPECT_TRUE(refresh());
  EXPECT_EQ(inventory_.devices()[0]->netlink_index, 0U);
}

}  // namespace
}  // namespace rdma_exporter::host
