// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// On answers recorded from a kernel: tests/unit/data/devlink/ORIGIN.md.
#include <linux/devlink.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "host/netlink/generic_netlink.h"
#include "task/background.h"
#include "tests/unit/collectors/collector_fixture.h"

namespace rdma_exporter::collectors {

extern const CollectorSpec devlink_spec;

namespace {

// Runs what it is given at once, or keeps it: a reading that is stuck in the kernel.
class StubBackground : public task::Background {
 public:
  void start(std::function<void()> task) override {
    if (keep) return kept.push_back(std::move(task));
    task();
  }
  void tend() override {}

  bool keep = false;
  std::vector<std::function<void()>> kept;
};

// What devlink answers; the adapter of the recording is pci/0000:00:10.0.
struct Adapter {
  std::string folder = "healthy";
  int refusal = 0;  ///< errno of each dump
  int info_refusal = 0;
  std::optional<test::Message> info;
  std::vector<std::uint8_t> asked;  ///< commands
};

class ScriptedDevlink : public host::Netlink {
 public:
  explicit ScriptedDevlink(Adapter& adapter) : adapter_(adapter) {}

  core::Result<void> request(std::uint16_t type, std::uint16_t /*flags*/, host::Bytes payload,
                             const OnMessage& on_message) override {
    if (type == host::generic_netlink::kControl) {
      on_message(test::recorded_file("devlink/getfamily.bin"));
      return {};
    }
    note(type, payload);
    if (adapter_.info_refusal != 0) return core::os_error(adapter_.info_refusal);
    on_message(adapter_.info ? *adapter_.info : recorded("info"));
    return {};
  }

  core::Result<void> dump(std::uint16_t type, host::Bytes payload, const OnPart& on_part) override {
    const bool reporters = note(type, payload) == DEVLINK_CMD_HEALTH_REPORTER_GET;
    if (adapter_.refusal != 0) return core::os_error(adapter_.refusal);
    for (int i = 0; i < (reporters ? 16 : 4); ++i)
      if (!on_part(recorded((reporters ? "reporter_" : "port_") + std::to_string(i)))) break;
    return {};
  }

 private:
  std::uint8_t note(std::uint16_t type, host::Bytes payload) {
    constexpr std::uint16_t kFamily = 0x15;  // of getfamily.bin
    EXPECT_EQ(type, kFamily);
    adapter_.asked.push_back(std::to_integer<std::uint8_t>(payload[0]));
    return adapter_.asked.back();
  }
  test::Message recorded(const std::string& name) const {
    return test::recorded_file("devlink/" + adapter_.folder + "/" + name + ".bin");
  }

  Adapter& adapter_;
};

class DevlinkTest : public CollectorFixture {
 protected:
  DevlinkTest() : CollectorFixture(devlink_spec) {
    context_.background = &background_;
    host_.make_netlink = [this](host::NetlinkProtocol protocol) -> std::unique_ptr<host::Netlink> {
      if (protocol == host::NetlinkProtocol::generic) return std::make_unique<ScriptedDevlink>(adapter_);
      return std::make_unique<test::ScriptedNetlink>(script_);
    };
    add_port("mlx5_0");
    tree_.write(device_path("mlx5_0") + "parent", "cx0\n");
    tree_.write("class/net/cx0/mtu", "4200\n");
    tree_.link("../../../bus/pci", kFunction + "/subsystem");
    tree_.link("../../../" + kFunction, device_path("mlx5_0") + "device");
    tree_.link("../../../" + kFunction, "class/net/cx0/device");
  }

  static std::string device(const std::string& family, const std::string& reporter) {
    return "rdma_device_health_" + family + R"({device="mlx5_0",reporter=")" + reporter + "\"}";
  }
  static std::string netdev(const std::string& family, const std::string& reporter) {
    return "rdma_netdev_health_" + family + R"({device="mlx5_0",port="1",netdev="cx0",reporter=")" +
           reporter + "\"}";
  }
  int asked(int command) const {
    return static_cast<int>(std::count(adapter_.asked.begin(), adapter_.asked.end(), command));
  }

  Adapter adapter_;
  StubBackground background_;

  static inline const std::string kFunction = "devices/pci0000:00/0000:00:10.0";
  static inline const std::string kPending =
      R"(rdma_device_firmware_update_pending{device="mlx5_0",component="fw.version"})";
};

TEST_F(DevlinkTest, HasNoJobsWithoutNetlink) {
  use_no_netlink();
  EXPECT_EQ(collect(), Page());
  EXPECT_TRUE(jobs().empty());
}

TEST_F(DevlinkTest, ServesReportersVersionsAndThePortOfItsAdapterOnly) {
  Page expected{
      {kPending, 0},
      {R"(rdma_device_firmware_version_info{device="mlx5_0",component="fw.version",running="28.39.1002",stored="28.39.1002"})",
       1},
      {R"(rdma_netdev_devlink_port_info{device="mlx5_0",port="1",netdev="cx0",handle="pci/0000:00:10.0",port_index="65535",flavour="physical",port_number="0"})",
       1}};
  for (const char* family : {"errors_total", "recoveries_total", "error"}) {
    for (const char* reporter : {"fw", "fw_fatal"}) expected[device(family, reporter)] = 0;
    for (const char* reporter : {"tx", "rx"}) expected[netdev(family, reporter)] = 0;
  }
  EXPECT_EQ(collect(), expected);
  EXPECT_TRUE(errors_.empty());
}

TEST_F(DevlinkTest, TellsWhatIsBroken) {
  adapter_.folder = "broken";
  const Page page = collect();
  EXPECT_EQ(page.at(device("errors_total", "fw")), 3);
  EXPECT_EQ(page.at(device("error", "fw")), 1);
  EXPECT_EQ(page.at(device("recoveries_total", "fw_fatal")), 1);
  EXPECT_EQ(page.at(device("error", "fw_fatal")), 0);
  EXPECT_EQ(std::floor(page.at(device("dump_timestamp_seconds", "fw"))), 1795380424);
  EXPECT_EQ(page.at(netdev("errors_total", "tx")), 2);
  EXPECT_EQ(page.at(kPending), 1);
}

TEST_F(DevlinkTest, AsksHealthOftenAndFirmwareRarely) {
  collect();
  EXPECT_EQ(asked(DEVLINK_CMD_HEALTH_REPORTER_GET), 1) << "device and interface share a reading";
  EXPECT_EQ(asked(DEVLINK_CMD_INFO_GET), 1);
  adapter_.folder = "broken";
  pass(std::chrono::seconds(16));
  EXPECT_EQ(collect().at(device("errors_total", "fw")), 3);
  EXPECT_EQ(collect().at(kPending), 0);
  pass(std::chrono::minutes(10));
  EXPECT_EQ(collect().at(kPending), 1);
  EXPECT_EQ(asked(DEVLINK_CMD_INFO_GET), 2);
}

TEST_F(DevlinkTest, ServesNothingOldWhileAnAdapterIsBusy) {
  collect();
  background_.keep = true;
  pass(std::chrono::seconds(20));
  EXPECT_TRUE(collect().contains(device("error", "fw"))) << "a late reading is no reason to forget";
  EXPECT_TRUE(errors_.empty());
  pass(std::chrono::minutes(2));
  EXPECT_TRUE(collect().empty());
  EXPECT_EQ(errors_, (Counts{{"ETIMEDOUT", 2}})) << "of the device and of the interface";
  ASSERT_EQ(background_.kept.size(), 1U) << "no second reading while one is stuck";
  background_.keep = false;
  background_.kept.front()();
  pass(std::chrono::seconds(20));
  EXPECT_TRUE(collect().contains(device("error", "fw")));
}

TEST_F(DevlinkTest, LooksRarelyWhereThereIsNoInstance) {
  for (const int refusal : {ENODEV, EOPNOTSUPP}) {
    adapter_.refusal = adapter_.info_refusal = refusal;
    adapter_.asked.clear();
    reload();
    EXPECT_TRUE(collect().empty());
    EXPECT_TRUE(errors_.empty());
    pass(std::chrono::minutes(5));
    collect();
    EXPECT_EQ(asked(DEVLINK_CMD_HEALTH_REPORTER_GET), 1);
  }
}

TEST_F(DevlinkTest, LosesVersionsOnlyWhenFirmwareDoesNotAnswer) {
  adapter_.info_refusal = EIO;
  const Page page = collect();
  EXPECT_FALSE(page.contains(kPending));
  EXPECT_TRUE(page.contains(device("errors_total", "fw")));
  EXPECT_EQ(errors_, (Counts{{"EIO", 1}}));
  EXPECT_FALSE(collect().contains(kPending));
  EXPECT_TRUE(errors_.empty()) << "the same failure is counted once";
}

// Each question would write a warning to the kernel's log (mlx5_core/fw.c).
TEST_F(DevlinkTest, StopsAskingForAVersionThatMlx5DoesNotTell) {
  test::Message none = test::recorded_file("devlink/broken/info.bin");
  const std::string_view stored = "28.43.1014";
  const std::string_view told("0.0.0000\0\0", 10);
  const auto at = std::search(none.begin(), none.end(), stored.begin(), stored.end(),
                              [](std::byte a, char b) { return a == static_cast<std::byte>(b); });
  ASSERT_NE(at, none.end());
  std::transform(told.begin(), told.end(), at, [](char c) { return static_cast<std::byte>(c); });
  adapter_.info = none;
  EXPECT_FALSE(collect().contains(kPending));
  pass(std::chrono::minutes(11));
  EXPECT_FALSE(collect().contains(kPending));
  EXPECT_EQ(asked(DEVLINK_CMD_INFO_GET), 1);
}

TEST_F(DevlinkTest, IsSilentWithoutADevice) {
  add_port("rxe0");
  for (const auto& [series, value] : collect()) EXPECT_EQ(series.find("rxe0"), std::string::npos) << series;
}

}  // namespace
}  // namespace rdma_exporter::collectors
