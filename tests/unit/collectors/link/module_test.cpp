// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Modules are synthetic (tests/unit/support/synthetic_module.h); the answers around their bytes follow
// eeprom_fill_reply() of net/ethtool/eeprom.c.
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <span>
#include <utility>

#include "collectors/link/module_watch.h"
#include "host/module/module_eeprom.h"
#include "host/netlink/generic_netlink.h"
#include "host/netlink/netlink_attr.h"
#include "tests/unit/collectors/collector_fixture.h"
#include "tests/unit/support/scripted_background.h"
#include "tests/unit/support/synthetic_module.h"

namespace rdma_exporter::collectors {

extern const CollectorSpec module_spec;

namespace {

using namespace std::chrono_literals;
using M = test::ModuleMemory;

test::Message eeprom_answer(const std::vector<std::byte>& bytes) {
  const genlmsghdr header{ETHTOOL_MSG_MODULE_EEPROM_GET_REPLY, 1, 0};
  const host::Bytes head = std::as_bytes(std::span(&header, 1));
  test::Message message(head.begin(), head.end());
  host::append_attr(message, ETHTOOL_A_MODULE_EEPROM_HEADER | NLA_F_NESTED, {});
  host::append_attr(message, ETHTOOL_A_MODULE_EEPROM_DATA, bytes);
  return message;
}

class ModuleCollectorTest : public CollectorFixture {
 protected:
  ModuleCollectorTest() : CollectorFixture(module_spec) {
    context_.background = &background_;
    generic_script_->respond = [this](std::uint16_t type, host::Bytes payload) {
      return answer(type, payload);
    };
    add_interface("d0", "eth0", "0000:3b:00.0");
  }

  void add_interface(const std::string& device, const std::string& netdev, const std::string& function,
                     const std::string& driver = "mlx5_core") const {
    add_port(device);
    tree_.write(device_path(device) + "parent", netdev + "\n");
    tree_.write("class/net/" + netdev + "/mtu", "4200\n");
    tree_.write("class/net/" + netdev + "/carrier_changes", "1\n");
    tree_.mkdir("devices/pci0000:00/" + function);
    tree_.link("../../../devices/pci0000:00/" + function, "class/net/" + netdev + "/device");
    if (!driver.empty())
      tree_.link("../../../bus/pci/drivers/" + driver, "devices/pci0000:00/" + function + "/driver");
  }

  static std::string of(const std::string& family, const std::string& more = "") {
    return "rdma_netdev_module_" + family + R"({device="d0",port="1",netdev="eth0")" +
           (more.empty() ? "" : ",") + more + "}";
  }
  static std::size_t count(const Page& page, const std::string& family) {
    return static_cast<std::size_t>(std::count_if(page.begin(), page.end(), [&](const auto& sample) {
      return sample.first.starts_with("rdma_netdev_module_" + family);
    }));
  }

  test::ScriptedBackground background_;
  M module_ = test::qsfp28_sr4();
  int readings_ = 0;  ///< of what the module measures
  int identities_ = 0;

 private:
  std::optional<core::Result<test::Message>> answer(std::uint16_t type, host::Bytes payload) {
    if (type == host::generic_netlink::kControl) return test::recorded_file("ethernet/getfamily.bin");
    const auto range = host::module_eeprom::parse_request(payload);
    if (!range) return core::os_error(EOPNOTSUPP);
    if (range->offset == 22) ++readings_;
    if (range->offset == 0) ++identities_;
    const auto bytes = module_.read(*range);
    if (!bytes) return tl::unexpected(bytes.error());
    return eeprom_answer(*bytes);
  }
};

TEST_F(ModuleCollectorTest, ServesWhatAModuleIsAndMeasures) {
  const Page page = collect();
  EXPECT_EQ(
      page.at(of("info", R"(type="qsfp28",connector="mpo_1x12",media="optical",vendor="EXAMPLE OPTICS",)"
                         R"(part_number="EX-100G-SR4",revision="A1",serial_number="EX123456",)"
                         R"(rx_power_kind="average")")),
      1);
  EXPECT_DOUBLE_EQ(page.at(of("temperature_celsius")), 31.5);
  EXPECT_DOUBLE_EQ(page.at(of("supply_volts")), 3.3012);
  EXPECT_DOUBLE_EQ(page.at(of("tx_bias_amperes", R"(lane="1")")), 7.5e-3);
  EXPECT_DOUBLE_EQ(page.at(of("tx_power_watts", R"(lane="2")")), 0.91e-3);
  EXPECT_DOUBLE_EQ(page.at(of("rx_power_watts", R"(lane="3")")), 80e-6);
  EXPECT_DOUBLE_EQ(page.at(of("rx_power_watts", R"(lane="4")")), 0);
  EXPECT_DOUBLE_EQ(page.at(of("temperature_threshold_celsius", R"(level="high_warning")")), 70);
  EXPECT_DOUBLE_EQ(page.at(of("rx_power_threshold_watts", R"(level="low_warning")")), 51.3e-6);
  EXPECT_FALSE(page.contains(of("tx_power_threshold_watts", R"(level="low_alarm")")));
  EXPECT_TRUE(page.contains(of("age_seconds")));
  EXPECT_TRUE(errors_.empty());
}

TEST_F(ModuleCollectorTest, PassiveCopperHasNoMonitors) {
  module_ = test::qsfp28_copper();
  const Page page = collect();
  EXPECT_DOUBLE_EQ(page.at(of("cable_length_meters")), 3);
  EXPECT_EQ(count(page, ""), 3U) << "info, length, age";
}

TEST_F(ModuleCollectorTest, ReadsInTheBackgroundOnceAnInterval) {
  background_.at_once = false;
  EXPECT_TRUE(collect().empty());
  EXPECT_EQ(readings_, 0) << "nothing waits for a module in a scrape";
  background_.run();
  EXPECT_TRUE(collect().contains(of("temperature_celsius")));
  pass(59s);
  collect();
  EXPECT_EQ(background_.started, 1);
  pass(2s);
  collect();
  EXPECT_EQ(background_.started, 2);
}

TEST_F(ModuleCollectorTest, ReadsIdentityRarelyAndWhenTheLinkChanged) {
  for (int i = 0; i < 5; ++i, pass(61s)) collect();
  EXPECT_EQ(readings_, 5);
  EXPECT_EQ(identities_, 2) << "one for the kind, one for its status";
  module_ = test::qsfp28_copper();
  tree_.write("class/net/eth0/carrier_changes", "3\n");
  EXPECT_TRUE(collect().contains(of("cable_length_meters"))) << "another module, without waiting";
}

// A reading holds the RTNL lock: never two at a time.
TEST_F(ModuleCollectorTest, ReadsOneModuleAtATime) {
  add_interface("d1", "eth1", "0000:5e:00.0");
  background_.at_once = false;
  collect();
  EXPECT_EQ(background_.tasks.size(), 1U);
  background_.run();
  const Page page = collect();
  EXPECT_TRUE(page.contains(of("temperature_celsius")));
  EXPECT_TRUE(page.contains(R"(rdma_netdev_module_temperature_celsius{device="d1",port="1",netdev="eth1"})"));
}

TEST_F(ModuleCollectorTest, AModuleThatHangsIsNotAskedAgainAndItsValuesGoStale) {
  collect();
  background_.at_once = false;
  pass(61s);
  collect();
  for (int i = 0; i < 3; ++i) {
    pass(61s);
    collect();
  }
  EXPECT_EQ(background_.tasks.size(), 1U);
  EXPECT_GT(background_.tended, 0);
  const Page page = collect();
  EXPECT_FALSE(page.contains(of("temperature_celsius")));
  EXPECT_GT(page.at(of("age_seconds")), 180);
}

TEST_F(ModuleCollectorTest, BacksOffFromAModuleThatDoesNotAnswer) {
  module_.refusal = EIO;
  std::size_t asked = 0;
  for (int minute = 0; minute < 180; ++minute, pass(60s)) {
    EXPECT_EQ(count(collect(), "temperature_celsius"), 0U);
    const bool tried = module_.asked.size() > asked;
    EXPECT_EQ(errors_, tried ? Counts({{"EIO", 1}}) : Counts()) << "each failure counts once";
    asked = module_.asked.size();
  }
  EXPECT_LE(asked, 10U) << "2, 4, 8, 16, then every 30 minutes";
  EXPECT_GE(asked, 7U);
  module_.refusal = 0;
  tree_.write("class/net/eth0/carrier_changes", "2\n");
  EXPECT_TRUE(collect().contains(of("temperature_celsius"))) << "at once when the link comes";
}

TEST_F(ModuleCollectorTest, AMemoryOfZerosIsAModuleThatDoesNotAnswer) {
  const M whole = std::exchange(module_, M());
  EXPECT_TRUE(collect().empty());
  EXPECT_EQ(errors_, (Counts{{"EIO", 1}}));
  module_.u8(M::lower(0), 0x11);
  pass(3600s);
  EXPECT_TRUE(collect().empty()) << "its kind is known, and nothing of who it is";
  module_ = whole;
  pass(3600s);
  EXPECT_TRUE(collect().contains(of("temperature_celsius")));
}

TEST_F(ModuleCollectorTest, ARefusalIsNoError) {
  for (const int refusal : {EPERM, EOPNOTSUPP, EINVAL, EBUSY}) {
    module_.refusal = refusal;
    EXPECT_TRUE(collect().empty());
    EXPECT_TRUE(errors_.empty()) << core::errno_name(refusal);
    pass(3600s);
  }
}

TEST_F(ModuleCollectorTest, LeavesOutValuesOfAModuleThatWasPulled) {
  EXPECT_TRUE(collect().contains(of("temperature_celsius")));
  module_.refusal = EIO;
  pass(61s);
  EXPECT_TRUE(collect().empty());
}

TEST_F(ModuleCollectorTest, AsksNoVirtualFunction) {
  tree_.mkdir("devices/pci0000:00/0000:3b:00.0/physfn");
  EXPECT_TRUE(collect().empty());
  EXPECT_TRUE(module_.asked.empty());
}

TEST_F(ModuleCollectorTest, ServesTheLanesThatACmisModuleHas) {
  module_ = test::qsfp_dd_dr4();
  const Page page = collect();
  EXPECT_EQ(count(page, "rx_power_watts"), 4U);
  EXPECT_DOUBLE_EQ(page.at(of("tx_bias_amperes", R"(lane="4")")), 15300 * 4e-6);
}

}  // namespace
}  // namespace rdma_exporter::collectors
