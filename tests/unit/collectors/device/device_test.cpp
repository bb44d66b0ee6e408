// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include <algorithm>
#include <cerrno>

#include "tests/unit/collectors/collector_fixture.h"

namespace rdma_exporter::collectors {
namespace {

const std::string kPci = "devices/pci0000:3a/0000:3b:00.0";

class DeviceTest : public CollectorFixture {
 protected:
  DeviceTest() : CollectorFixture(device_spec) {}

  void add_pci(const std::string& device, const std::string& function, const std::string& child = "") const {
    tree_.write(function + "/vendor", "0x15b3\n");
    tree_.write(function + "/device", "0x1021\n");
    tree_.write(function + "/numa_node", "-1\n");
    tree_.write(function + "/current_link_speed", "16.0 GT/s PCIe\n");
    tree_.write(function + "/max_link_speed", "32.0 GT/s PCIe\n");
    tree_.write(function + "/current_link_width", "8\n");
    tree_.write(function + "/max_link_width", "16\n");
    if (!child.empty()) tree_.mkdir(function + "/" + child);
    tree_.link("../../../" + function + (child.empty() ? "" : "/" + child), device_path(device) + "device");
  }
  /// Value of a label of the only rdma_device_info of `device`.
  static std::string info(const Page& page, const std::string& label, const std::string& device = "d") {
    const std::string start = R"(rdma_device_info{device=")" + device + "\"";
    const auto it =
        std::find_if(page.begin(), page.end(), [&](const auto& e) { return e.first.starts_with(start); });
    if (it == page.end()) return "no rdma_device_info";
    const std::size_t at = it->first.find("," + label + "=\"");
    if (at == std::string::npos) return "no label";
    const std::size_t begin = at + label.size() + 3;
    return it->first.substr(begin, it->first.find('"', begin) - begin);
  }
  static std::string up(const std::string& device) { return R"(rdma_device_up{device=")" + device + R"("})"; }
};

TEST_F(DeviceTest, CountsNoDevicesWithoutRdma) {
  EXPECT_EQ(collect(), (Page{{"rdma_devices{}", 0}}));
  EXPECT_TRUE(errors_.empty());
}

TEST_F(DeviceTest, TellsWhatADeviceIs) {
  add_port("d");
  add_pci("d", kPci);
  tree_.link("../../../bus/pci/drivers/mlx5_core", kPci + "/driver");
  for (const auto& [file, text] : {std::pair{"fw_ver", "28.39.1002"},
                                   {"board_id", "MT_0000000838"},
                                   {"hca_type", "MT4129"},
                                   {"hw_rev", "0"},
                                   {"node_guid", "0c42:a103:0000:0001"},
                                   {"sys_image_guid", "0c42:a103:0000:0000"},
                                   {"node_type", "1: CA"}})
    tree_.write(device_path("d") + file, std::string(text) + "\n");
  const Page page = collect();
  for (const auto& [label, value] : {std::pair{"fw_version", "28.39.1002"},
                                     {"board_id", "MT_0000000838"},
                                     {"hca_type", "MT4129"},
                                     {"hw_rev", "0"},
                                     {"node_guid", "0c42:a103:0000:0001"},
                                     {"sys_image_guid", "0c42:a103:0000:0000"},
                                     {"driver", "mlx5_core"},
                                     {"protocol", "roce"},
                                     {"node_type", "CA"},
                                     {"pci_address", "0000:3b:00.0"},
                                     {"vendor_id", "0x15b3"},
                                     {"device_id", "0x1021"},
                                     {"numa_node", "-1"},
                                     {"is_vf", "0"},
                                     {"physfn", ""}})
    EXPECT_EQ(info(page, label), value) << label;
  EXPECT_EQ(page.at("rdma_devices{}"), 1);
  EXPECT_TRUE(errors_.empty());
}

TEST_F(DeviceTest, TellsTheProtocolByLinkLayerAndNodeType) {
  add_port("d");
  tree_.write(device_path("d") + "node_type", "4: RNIC\n");
  EXPECT_EQ(info(collect(), "protocol"), "iw");
  tree_.write(device_path("d") + "node_type", "1: CA\n");
  tree_.write(port_path("d") + "link_layer", "InfiniBand\n");
  pass(std::chrono::minutes(2));
  EXPECT_EQ(info(collect(), "protocol"), "ib");
}

TEST_F(DeviceTest, TellsWhatItCanOfASoftwareDevice) {
  add_port("rxe0");
  tree_.write(device_path("rxe0") + "parent", "ve0\n");
  answer_netlink();
  const Page page = collect();
  EXPECT_EQ(info(page, "driver", "rxe0"), "rxe");
  EXPECT_EQ(info(page, "protocol", "rxe0"), "roce");
  EXPECT_EQ(info(page, "pci_address", "rxe0"), "");
  EXPECT_FALSE(page.contains(R"(rdma_device_pcie_width_lanes{device="rxe0"})"));
  EXPECT_TRUE(errors_.empty());
}

// Identity is written by users (node_desc) and firmware: it may hold anything.
TEST_F(DeviceTest, EscapesAndCutsIdentity) {
  add_port("d");
  tree_.write(device_path("d") + "board_id", "a\"b\\c");
  tree_.write(device_path("d") + "hca_type", std::string(4000, 'x'));
  tree_.write(device_path("d") + "fw_ver", std::string(100'000, 'x'));
  const Page page = collect();
  const auto it = std::find_if(page.begin(), page.end(),
                               [](const auto& e) { return e.first.starts_with("rdma_device_info"); });
  ASSERT_NE(it, page.end());
  EXPECT_NE(it->first.find(R"(board_id="a\"b\\c",)"), std::string::npos) << it->first;
  EXPECT_NE(it->first.find("hca_type=\"" + std::string(128, 'x') + "\""), std::string::npos);
  EXPECT_NE(it->first.find(R"(fw_version="",)"), std::string::npos);
}

TEST_F(DeviceTest, ShowsThePcieLink) {
  add_port("d");
  add_pci("d", kPci);
  const Page page = collect();
  EXPECT_EQ(page.at(R"(rdma_device_pcie_speed_transfers_per_second{device="d"})"), 16e9);
  EXPECT_EQ(page.at(R"(rdma_device_pcie_max_speed_transfers_per_second{device="d"})"), 32e9);
  EXPECT_EQ(page.at(R"(rdma_device_pcie_width_lanes{device="d"})"), 8);
  EXPECT_EQ(page.at(R"(rdma_device_pcie_max_width_lanes{device="d"})"), 16);
}

TEST_F(DeviceTest, ShowsThePcieLinkOfThePhysicalFunctionForAVirtualOne) {
  add_port("d");
  const std::string vf = "devices/pci0000:3a/0000:3b:00.2";
  add_pci("d", vf);
  tree_.write(vf + "/current_link_speed", "Unknown\n");
  tree_.write(vf + "/current_link_width", "0\n");
  add_pci("pf", kPci);
  tree_.link("../0000:3b:00.0", vf + "/physfn");
  const Page page = collect();
  EXPECT_EQ(info(page, "is_vf"), "1");
  EXPECT_EQ(info(page, "physfn"), "0000:3b:00.0");
  EXPECT_EQ(info(page, "pci_address"), "0000:3b:00.2");
  EXPECT_EQ(page.at(R"(rdma_device_pcie_speed_transfers_per_second{device="d"})"), 16e9);
  EXPECT_EQ(page.at(R"(rdma_device_pcie_width_lanes{device="d"})"), 8);
}

TEST_F(DeviceTest, ShowsThePcieLinkBelowASubFunction) {
  add_port("d");
  add_pci("d", kPci, "mlx5_core.sf.4");
  const Page page = collect();
  EXPECT_EQ(info(page, "pci_address"), "0000:3b:00.0");
  EXPECT_EQ(page.at(R"(rdma_device_pcie_width_lanes{device="d"})"), 8);
}

TEST_F(DeviceTest, LosesOneSampleToOneBadPciFile) {
  add_port("d");
  add_pci("d", kPci);
  tree_.write(kPci + "/current_link_speed", "fast\n");
  fs_->failures[kPci + "/max_link_width"] = EIO;
  tree_.write(kPci + "/max_link_speed", "Unknown\n");
  tree_.remove(kPci + "/current_link_width");
  const Page page = collect();
  for (const auto& [key, value] : page) EXPECT_FALSE(key.starts_with("rdma_device_pcie")) << key << value;
  EXPECT_EQ(errors_, (Counts{{"parse", 1}, {"EIO", 1}})) << "absent and unknown are no errors";
  EXPECT_EQ(page.at(up("d")), 1);
}

TEST_F(DeviceTest, ReadsWhatRarelyChangesRarely) {
  add_port("d");
  add_pci("d", kPci);
  collect();
  collect();
  EXPECT_EQ(fs_->opens[kPci + "/current_link_width"], 1);
  tree_.write(kPci + "/current_link_width", "4\n");
  pass(std::chrono::minutes(2));
  EXPECT_EQ(collect().at(R"(rdma_device_pcie_width_lanes{device="d"})"), 4);
}

// A moment without file descriptors: the series of rdma_device_info stays the same one, and what is missing
// is read as soon as possible, not a minute later.
TEST_F(DeviceTest, KeepsItsIdentityDuringReadErrorsAndThenReadsAtOnce) {
  add_port("d");
  add_pci("d", kPci);
  tree_.write(device_path("d") + "fw_ver", "28.39.1002\n");
  tree_.write(device_path("d") + "node_type", "1: CA\n");
  const Page before = collect();
  const std::vector<std::string> files{device_path("d") + "fw_ver", device_path("d") + "node_type",
                                       kPci + "/numa_node", kPci + "/current_link_speed",
                                       kPci + "/max_link_width"};
  for (const std::string& file : files) fs_->failures[file] = EMFILE;
  pass(std::chrono::minutes(2));
  const Page during = collect();
  EXPECT_EQ(info(during, "fw_version"), "28.39.1002");
  EXPECT_EQ(info(during, "node_type"), "CA");
  EXPECT_EQ(info(during, "numa_node"), "-1");
  EXPECT_FALSE(during.contains(R"(rdma_device_pcie_speed_transfers_per_second{device="d"})"));
  EXPECT_GT(errors_["EMFILE"], 0);
  fs_->failures.clear();
  EXPECT_EQ(collect(), before);
}

TEST_F(DeviceTest, RestsBetweenAttemptsWhereAReadErrorStays) {
  add_port("d");
  add_pci("d", kPci);
  fs_->failures[kPci + "/numa_node"] = EIO;
  for (int i = 0; i < 20; ++i) collect();
  EXPECT_EQ(fs_->opens[kPci + "/vendor"], 3);
}

TEST_F(DeviceTest, ShowsFirmwarePagesWhereThereAreSome) {
  add_port("d");
  tree_.write(device_path("d") + "fw_pages", "127844\n");
  tree_.write(device_path("d") + "reg_pages", "garbage\n");
  const Page page = collect();
  EXPECT_EQ(page.at(R"(rdma_device_firmware_pages{device="d",kind="fw"})"), 127844);
  EXPECT_FALSE(page.contains(R"(rdma_device_firmware_pages{device="d",kind="reg"})"));
}

TEST_F(DeviceTest, IsUpWhenOnePortIsActive) {
  add_port("d", "1");
  add_port("d", "2");
  tree_.write(port_path("d", "1") + "state", "1: DOWN\n");
  EXPECT_EQ(collect().at(up("d")), 1);
  tree_.write(port_path("d", "1") + "state", "4: ACTIVE\n");
  tree_.write(port_path("d", "2") + "state", "1: DOWN\n");
  EXPECT_EQ(collect().at(up("d")), 1) << "whichever it is";
  tree_.write(port_path("d", "1") + "state", "1: DOWN\n");
  tree_.write(port_path("d", "2") + "state", "2: INIT\n");
  EXPECT_EQ(collect().at(up("d")), 0);
}

TEST_F(DeviceTest, SaysNothingOfUpWhenNoStateIsKnown) {
  add_port("d");
  tree_.write(port_path("d") + "state", "garbage");
  EXPECT_FALSE(collect().contains(up("d")));
  EXPECT_TRUE(errors_.empty()) << "the collector port counts it";
}

TEST_F(DeviceTest, KeepsAVanishedDeviceAtZeroUntilItIsForgotten) {
  context_.forget_after = std::chrono::hours(1);
  add_port("a");
  add_port("b");
  ASSERT_EQ(collect().at(up("a")), 1);
  tree_.remove(device_path("a"));
  for (int i = 0; i < 2; ++i) {
    const Page page = collect();
    EXPECT_EQ(page.at(up("a")), 0);
    EXPECT_EQ(page.at(up("b")), 1);
    EXPECT_EQ(page.at("rdma_devices{}"), 1);
    EXPECT_EQ(info(page, "driver", "a"), "no rdma_device_info") << "what it was is not true any more";
  }
  pass(std::chrono::minutes(59));
  EXPECT_EQ(collect().at(up("a")), 0);
  pass(std::chrono::minutes(2));
  EXPECT_FALSE(collect().contains(up("a")));
}

TEST_F(DeviceTest, ShowsADeviceThatCameBack) {
  add_port("a");
  collect();
  tree_.remove(device_path("a"));
  EXPECT_EQ(collect().at(up("a")), 0);
  add_port("a");
  tree_.write(device_path("a") + "fw_ver", "2.0\n");
  const Page page = collect();
  EXPECT_EQ(page.at(up("a")), 1);
  EXPECT_EQ(page.at("rdma_devices{}"), 1);
  EXPECT_EQ(info(page, "fw_version", "a"), "2.0");
}

TEST_F(DeviceTest, ReadsADeviceRegisteredAnewUnderItsName) {
  add_port("a");
  tree_.write(device_path("a") + "fw_ver", "1.0\n");
  ASSERT_EQ(info(collect(), "fw_version", "a"), "1.0");
  tree_.remove(device_path("a"));
  add_port("a");
  tree_.write(device_path("a") + "fw_ver", "2.0\n");
  EXPECT_EQ(info(collect(), "fw_version", "a"), "2.0") << "after a firmware reset";
}

}  // namespace
}  // namespace rdma_exporter::collectors
