// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Collector ethtool: from a driver's statistics to the page.
#include <cerrno>

#include "tests/unit/collectors/collector_fixture.h"
#include "tests/unit/support/fake_ethtool.h"

namespace rdma_exporter::collectors {

extern const CollectorSpec ethtool_spec;

namespace {

using std::chrono::seconds;

class EthtoolTest : public CollectorFixture {
 protected:
  EthtoolTest() : CollectorFixture(ethtool_spec) {
    auto kernel = std::make_unique<test::FakeEthtool>();
    kernel_ = kernel.get();
    host_.ethtool = std::move(kernel);
    context_.ethtool.raw_include = core::Pattern(".*_error");
    add_netdev("mlx5_0", "eth0", "mlx5_core");
  }

  /// An RDMA device with one port, and the interface of that.
  void add_netdev(const std::string& device, const std::string& netdev, const std::string& driver) {
    add_port(device);
    tree_.write(port_path(device) + "gid_attrs/ndevs/0", netdev + "\n");
    tree_.mkdir("class/net/" + netdev + "/device");
    tree_.link("../../../bus/pci/drivers/" + driver, "class/net/" + netdev + "/device/driver");
    kernel_->interfaces[netdev];
  }
  std::uint64_t& statistic(const std::string& name) { return kernel_->interfaces["eth0"][name]; }

  /// The value of `name{device="mlx5_0",port="1",netdev="eth0",labels}`, or nothing.
  static std::optional<double> of(const Page& page, const std::string& name, const std::string& labels = "") {
    const auto it = page.find(name + R"({device="mlx5_0",port="1",netdev="eth0")" +
                              (labels.empty() ? "" : "," + labels) + "}");
    return it == page.end() ? std::nullopt : std::optional(it->second);
  }
  static std::optional<double> raw(const Page& page, const std::string& name) {
    return of(page, "rdma_netdev_raw_total", "counter=\"" + name + "\"");
  }
  static std::optional<double> age(const Page& page) {
    return of(page, "rdma_netdev_statistics_age_seconds");
  }
  int readings() const {
    const auto it = kernel_->calls.find(ETHTOOL_GSTATS);
    return it == kernel_->calls.end() ? 0 : it->second;
  }

  test::FakeEthtool* kernel_ = nullptr;
};

TEST_F(EthtoolTest, GivesStatisticsTheirVendorNeutralNamesAndBaseUnits) {
  statistic("rx_prio3_pause") = 7;
  statistic("rx_prio3_pause_duration") = 1'500'000;
  statistic("tx_prio4_pause_duration") = 1;
  statistic("outbound_pci_stalled_rd") = 42;
  statistic("rx_prio3_bytes") = 18446744073709551615ULL;
  const Page page = collect();
  EXPECT_EQ(of(page, "rdma_pfc_frames_total", R"(priority="3",direction="rx")"), 7);
  EXPECT_EQ(of(page, "rdma_pfc_pause_seconds_total", R"(priority="3",direction="rx")"), 1.5);
  EXPECT_EQ(of(page, "rdma_pfc_pause_seconds_total", R"(priority="4",direction="tx")"), 1e-6);
  EXPECT_EQ(of(page, "rdma_netdev_pcie_stalled_ratio", R"(operation="read")"), 0.42);
  EXPECT_EQ(of(page, "rdma_priority_bytes_total", R"(priority="3",direction="rx")"), 18446744073709551615.0);
}

TEST_F(EthtoolTest, ExportsOthersOnlyWhenTheyAreAskedFor) {
  context_.metrics.set = core::MetricSet::lean;
  statistic("rx_prio3_pause") = 1;
  statistic("some_error") = 2;
  statistic("rx0_packets") = 3;
  const Page page = collect();
  EXPECT_EQ(raw(page, "some_error"), 2);
  EXPECT_EQ(raw(page, "rx0_packets"), std::nullopt);
  EXPECT_EQ(raw(page, "rx_prio3_pause"), std::nullopt) << "has a curated name";
}

TEST_F(EthtoolTest, ObeysTheRawPolicy) {
  statistic("rx_prio3_pause") = 1;
  statistic("outbound_pci_stalled_rd") = 50;
  statistic("some_error") = 2;
  context_.raw = RawPolicy::none;
  EXPECT_EQ(raw(collect(), "some_error"), std::nullopt);
}

TEST_F(EthtoolTest, KeepsGaugesOutOfTheCounterFamilyAlsoWhenTheyAreRaw) {
  context_.raw = RawPolicy::all;
  statistic("rx_prio3_pause") = 1;
  statistic("outbound_pci_stalled_rd") = 50;
  const Page page = collect();
  EXPECT_EQ(raw(page, "rx_prio3_pause"), 1);
  EXPECT_EQ(raw(page, "outbound_pci_stalled_rd"), std::nullopt);
  EXPECT_EQ(of(page, "rdma_netdev_raw_value", R"(counter="outbound_pci_stalled_rd")"), 50);
}

TEST_F(EthtoolTest, ReadsAgainOnlyAfterTheInterval) {
  statistic("a_error") = 1;
  EXPECT_EQ(raw(collect(), "a_error"), 1);
  statistic("a_error") = 2;
  pass(seconds(5));
  Page page = collect();
  EXPECT_EQ(raw(page, "a_error"), 1);
  EXPECT_NEAR(age(page).value_or(-1), 5, 1);
  EXPECT_EQ(readings(), 1);
  pass(seconds(5));
  page = collect();
  EXPECT_EQ(raw(page, "a_error"), 2);
  EXPECT_EQ(age(page), 0);
}

// Scrapes of the same interval come a little early as often as late.
TEST_F(EthtoolTest, ReadsInEveryScrapeThatIsNearlyAsFarApartAsTheInterval) {
  context_.ethtool.interval = std::chrono::milliseconds(10'500);
  statistic("a_error") = 1;
  for (int i = 1; i <= 4; ++i) {
    collect();
    EXPECT_EQ(readings(), i);
    pass(seconds(10));
  }
}

TEST_F(EthtoolTest, ServesNothingOldWhenAReadingFails) {
  statistic("a_error") = 1;
  collect();
  kernel_->refusals[ETHTOOL_GSTATS] = EIO;
  pass(seconds(10));
  Page page = collect();
  EXPECT_EQ(raw(page, "a_error"), std::nullopt);
  EXPECT_EQ(age(page), std::nullopt);
  EXPECT_EQ(errors_, (Counts{{"EIO", 1}}));
  collect();
  EXPECT_TRUE(errors_.empty()) << "not tried again before the interval is over";
  kernel_->refusals.clear();
  pass(seconds(10));
  EXPECT_EQ(raw(collect(), "a_error"), 1);
}

TEST_F(EthtoolTest, TakesADriverWithoutStatisticsForNoError) {
  kernel_->interfaces["eth0"].has_statistics = false;
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(collect().size(), 1U) << "the interface itself is shown";
  EXPECT_TRUE(errors_.empty());
  pass(std::chrono::minutes(1));
  kernel_->calls.clear();
  collect();
  EXPECT_EQ(kernel_->calls[ETHTOOL_GSSET_INFO], 0);
  pass(std::chrono::minutes(10));
  collect();
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("no statistics"), std::string::npos);
  EXPECT_EQ(log.find("no statistics"), log.rfind("no statistics")) << "said once";
  kernel_->interfaces["eth0"].has_statistics = true;
  statistic("a_error") = 1;
  pass(std::chrono::minutes(10));
  EXPECT_EQ(raw(collect(), "a_error"), 1) << "it was in the middle of a reset";
}

TEST_F(EthtoolTest, TakesAnInterfaceThatHasJustGoneForNoError) {
  kernel_->interfaces.clear();
  EXPECT_EQ(age(collect()), std::nullopt);
  EXPECT_TRUE(errors_.empty());
}

TEST_F(EthtoolTest, FollowsPfcToAnotherPriority) {
  auto& nic = kernel_->interfaces["eth0"];
  nic.names = {"rx_prio3_pause", "a_error"};
  nic.values = {5, 1};
  EXPECT_EQ(of(collect(), "rdma_pfc_frames_total", R"(priority="3",direction="rx")"), 5);
  nic.names = {"rx_prio4_pause", "a_error"};
  nic.values = {0, 1};
  pass(seconds(10));
  const Page page = collect();
  EXPECT_EQ(of(page, "rdma_pfc_frames_total", R"(priority="4",direction="rx")"), 0);
  EXPECT_EQ(of(page, "rdma_pfc_frames_total", R"(priority="3",direction="rx")"), std::nullopt);
  EXPECT_EQ(raw(page, "a_error"), 1);
}

// mana does so while the interface is down; as a reset it would count everything a second time later.
TEST_F(EthtoolTest, TakesNothingButZerosAfterValuesForNoAnswer) {
  statistic("a_error") = 0;
  EXPECT_EQ(raw(collect(), "a_error"), 0) << "a new interface has counted nothing";
  statistic("a_error") = 9;
  pass(seconds(10));
  collect();
  statistic("a_error") = 0;
  for (int i = 0; i < 2; ++i) {
    pass(seconds(10));
    EXPECT_EQ(raw(collect(), "a_error"), std::nullopt);
  }
  statistic("a_error") = 10;
  pass(seconds(10));
  EXPECT_EQ(raw(collect(), "a_error"), 10);
}

TEST_F(EthtoolTest, CountsANameThatADriverHasTwiceOnce) {
  auto& nic = kernel_->interfaces["eth0"];
  nic.names = {"a_error", "a_error", "rx_prio0_bytes", "rx_prio0_bytes"};
  nic.values = {1, 2, 3, 4};
  const Page page = collect();
  EXPECT_EQ(raw(page, "a_error"), 1);
  EXPECT_EQ(of(page, "rdma_priority_bytes_total", R"(priority="0",direction="rx")"), 3);
  EXPECT_EQ(dropped_, (Counts{{"duplicate", 2}}));
}

TEST_F(EthtoolTest, ReadsTheMembersOfABondAndNotTheBond) {
  add_netdev("mlx5_0", "bond0", "unused");
  tree_.remove("class/net/bond0");
  tree_.mkdir("class/net/bond0/bonding");
  tree_.link("../eth0", "class/net/bond0/lower_eth0");
  kernel_->interfaces["bond0"]["a_error"] = 5;
  statistic("a_error") = 1;
  const Page page = collect();
  EXPECT_EQ(raw(page, "a_error"), 1);
  EXPECT_FALSE(
      page.contains(R"(rdma_netdev_raw_total{device="mlx5_0",port="1",netdev="bond0",counter="a_error"})"));
}

TEST_F(EthtoolTest, SaysWhoAnInterfaceIs) {
  auto& nic = kernel_->interfaces["eth0"];
  nic.has_statistics = false;
  nic.driver = "mlx5_core";
  nic.firmware_version = "28.39.1002 (MT_0000000838)";
  nic.bus_address = "0000:3b:00.0";
  tree_.write("class/net/eth0/phys_switch_id", "a1b2\n");
  tree_.write("class/net/eth0/phys_port_name", "p0\n");
  const std::string who = R"(rdma_netdev_info{device="mlx5_0",port="1",netdev="eth0",role="port",)";
  const std::string where = R"(,phys_switch_id="a1b2",phys_port_name="p0"})";
  const std::string told =
      R"x(driver="mlx5_core",firmware_version="28.39.1002 (MT_0000000838)",bus_address="0000:3b:00.0")x";
  EXPECT_EQ(collect(), (Page{{who + told + where, 1}}));
  kernel_->refusals[ETHTOOL_GDRVINFO] = EOPNOTSUPP;
  pass(std::chrono::minutes(2));
  const std::string from_sysfs = R"(driver="mlx5_core",firmware_version="",bus_address="")";
  EXPECT_EQ(collect(), (Page{{who + from_sysfs + where, 1}}));
}

TEST_F(EthtoolTest, HasNothingToDoWithoutALiveKernel) {
  host_.ethtool.reset();
  EXPECT_TRUE(collect().empty());
}

}  // namespace
}  // namespace rdma_exporter::collectors
