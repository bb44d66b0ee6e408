// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Memories that real modules and cables returned (tests/unit/data/modules/ORIGIN.md). In the lab the tool
// ethtool decodes the same bytes (tests/lab/test_module.py).
#include <gtest/gtest.h>

#include <algorithm>

#include "host/module/module.h"
#include "tests/unit/support/module_memory.h"

namespace rdma_exporter::host {
namespace {

struct Module {
  explicit Module(const std::string& name) : memory(test::recorded_module(name)) {
    facts = read_module_facts(memory.reader()).value();
    readings = read_module_readings(memory.reader(), facts).value();
  }
  test::ModuleMemory memory;
  ModuleFacts facts;
  ModuleReadings readings;
};

void expect_limits(const Thresholds& thresholds, std::array<double, kThresholdLevels> expected) {
  for (std::size_t level = 0; level < kThresholdLevels; ++level) {
    ASSERT_TRUE(thresholds[level]) << to_string(static_cast<ThresholdLevel>(level));
    EXPECT_NEAR(*thresholds[level], expected[level], 1e-9) << to_string(static_cast<ThresholdLevel>(level));
  }
}

TEST(RecordedModuleTest, QsfpTransceiver) {
  const Module module("mellanox_mma1b00");
  EXPECT_EQ(module.facts.type, "qsfp28");
  EXPECT_EQ(module.facts.connector, "mpo_1x12");
  EXPECT_EQ(module.facts.media, "optical");
  EXPECT_EQ(module.facts.vendor, "Mellanox");
  EXPECT_EQ(module.facts.part_number, "MMA1B00-SS1");
  EXPECT_EQ(module.facts.revision, "A2");
  EXPECT_EQ(module.facts.serial_number, "0000000000000");
  EXPECT_FALSE(module.facts.cable_meters);
  EXPECT_NEAR(module.readings.temperature_celsius.value(), 39.47, 0.005);
  EXPECT_DOUBLE_EQ(module.readings.supply_volts.value(), 3.3477);
  // As the tool ethtool of the message printed them.
  expect_limits(module.facts.thresholds.temperature, {80, -10, 70, 0});
  expect_limits(module.facts.thresholds.tx_bias, {8.5e-3, 5.492e-3, 8e-3, 6e-3});
  expect_limits(module.facts.thresholds.tx_power, {3.4673e-3, 72.4e-6, 1.7378e-3, 144.5e-6});
  EXPECT_DOUBLE_EQ(module.facts.thresholds.supply[0].value(), 3.5);
  EXPECT_DOUBLE_EQ(module.facts.thresholds.supply[1].value(), 3.1);
  ASSERT_EQ(module.readings.lanes.size(), 4U);
  for (const ModuleLane& lane : module.readings.lanes) EXPECT_EQ(lane.rx_power_watts, 0) << "dark";
}

TEST(RecordedModuleTest, QsfpCopper) {
  const Module module("mellanox_670759_b23");
  EXPECT_EQ(module.facts.type, "qsfp_plus");
  EXPECT_EQ(module.facts.media, "passive_copper");
  EXPECT_EQ(module.facts.part_number, "670759-B23");
  EXPECT_EQ(module.facts.cable_meters, 2);
  EXPECT_FALSE(module.readings.temperature_celsius);
  EXPECT_TRUE(module.readings.lanes.empty());
}

TEST(RecordedModuleTest, SfpTransceiver) {
  const Module module("intel_ftlx8574d3bnl");
  EXPECT_EQ(module.facts.type, "sfp");
  EXPECT_EQ(module.facts.connector, "lc");
  EXPECT_EQ(module.facts.vendor, "Intel Corp");
  EXPECT_EQ(module.facts.part_number, "FTLX8574D3BNL-IT");
  EXPECT_EQ(module.facts.rx_power_kind, "average");
  EXPECT_NEAR(module.readings.temperature_celsius.value(), 35.34, 0.005);
  EXPECT_DOUBLE_EQ(module.readings.supply_volts.value(), 3.4272);
  ASSERT_EQ(module.readings.lanes.size(), 1U);
  EXPECT_NEAR(module.readings.lanes[0].tx_bias_amperes.value(), 8.688e-3, 1e-9);
  EXPECT_NEAR(module.readings.lanes[0].tx_power_watts.value(), 578.0e-6, 1e-9);
  EXPECT_NEAR(module.readings.lanes[0].rx_power_watts.value(), 2.1e-6, 1e-9);
  expect_limits(module.facts.thresholds.temperature, {93, -13, 88, -8});
  expect_limits(module.facts.thresholds.rx_power, {1e-3, 10e-6, 794.3e-6, 15.8e-6});
}

// A driver returned this for an SFP: nothing in it may become a label that breaks a page, or a reading.
TEST(RecordedModuleTest, SfpThatADriverGarbled) {
  const Module module("intel_ftlx8574d3bnl_by_bnxt_en");
  EXPECT_EQ(module.facts.type, "sfp");
  for (const std::string& text : {module.facts.vendor, module.facts.part_number, module.facts.serial_number})
    EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; })) << text;
  EXPECT_FALSE(module.readings.temperature_celsius);
  EXPECT_TRUE(module.readings.lanes.empty());
}

TEST(RecordedModuleTest, CmisTransceiver) {
  const Module module("juniper_740_174932");
  EXPECT_EQ(module.facts.type, "osfp");
  EXPECT_EQ(module.facts.connector, "mpo_1x16");
  EXPECT_EQ(module.facts.media, "optical");
  EXPECT_EQ(module.facts.vendor, "JUNIPER-1G1");
  EXPECT_EQ(module.facts.part_number, "740-174932");
  EXPECT_EQ(module.facts.revision, "01");
  EXPECT_EQ(module.facts.rx_power_kind, "average");
  EXPECT_NEAR(module.readings.temperature_celsius.value(), 57.93, 0.005);
  EXPECT_DOUBLE_EQ(module.readings.supply_volts.value(), 3.3057);
  expect_limits(module.facts.thresholds.temperature, {76, -6, 73, -3});
  expect_limits(module.facts.thresholds.tx_bias, {130e-3, 10e-3, 125e-3, 15e-3});
  expect_limits(module.facts.thresholds.rx_power, {4.7863e-3, 128.8e-6, 3.8018e-3, 181.9e-6});
  ASSERT_EQ(module.readings.lanes.size(), 8U);
  for (const ModuleLane& lane : module.readings.lanes) {
    EXPECT_NEAR(lane.tx_bias_amperes.value(), 69.982e-3, 1e-9);
    EXPECT_GT(lane.tx_power_watts, module.facts.thresholds.tx_power[3]) << "lane " << lane.number;
    EXPECT_GT(lane.rx_power_watts, module.facts.thresholds.rx_power[3]) << "lane " << lane.number;
  }
  EXPECT_NEAR(module.readings.lanes[0].tx_power_watts.value(), 1.9723e-3, 1e-9);
  EXPECT_NEAR(module.readings.lanes[7].rx_power_watts.value(), 1.5247e-3, 1e-9);
}

TEST(RecordedModuleTest, CmisActiveCopperMeasuresNoLanes) {
  const Module module("credo_cac845301a2nc2xa");
  EXPECT_EQ(module.facts.media, "active_copper");
  EXPECT_EQ(module.facts.vendor, "Credo");
  EXPECT_EQ(module.facts.part_number, "CAC845301A2NC2XA");
  EXPECT_EQ(module.facts.cable_meters, 4.5);
  EXPECT_NEAR(module.readings.temperature_celsius.value(), 51.27, 0.005);
  EXPECT_DOUBLE_EQ(module.readings.supply_volts.value(), 3.298);
  EXPECT_TRUE(module.readings.lanes.empty());
}

TEST(RecordedModuleTest, CmisPassiveCopperThatSaysSoInTheLowerHalfOnly) {
  const Module module("cisco_68_103205_02");
  EXPECT_EQ(module.facts.type, "qsfp_dd");
  EXPECT_EQ(module.facts.media, "passive_copper");
  EXPECT_EQ(module.facts.vendor, "CISCO");
  EXPECT_EQ(module.facts.part_number, "68-103205-02");
  EXPECT_FALSE(module.readings.temperature_celsius);
  for (const ModuleRange& range : module.memory.asked) EXPECT_EQ(range.page, 0) << "it has no other";
}

// What ice returns through the older interface (ice_get_module_eeprom): blocks of eight bytes, and zeros for
// those of page 01h and later as soon as bit 2 is set in the third byte of the answer itself.
core::Result<std::vector<std::byte>> read_by_ice(test::ModuleMemory& memory, const ModuleRange& range) {
  constexpr unsigned kBlock = 8;
  std::vector<std::byte> data(range.length);
  for (unsigned i = 0; i < range.length; i += kBlock) {
    if (range.page != 0 && (data[2] & std::byte{4}) != std::byte{0}) continue;
    ModuleRange block = range;
    block.offset = static_cast<std::uint8_t>(range.offset + i);
    block.length = static_cast<std::uint8_t>(std::min(kBlock, range.length - i));
    const auto bytes = memory.read(block);
    if (!bytes) return tl::unexpected(bytes.error());
    std::copy(bytes->begin(), bytes->end(), data.begin() + i);
  }
  return data;
}

// Its lower alarm of -10 C, F600h, has that bit.
TEST(RecordedModuleTest, QsfpTransceiverByIceHasAllItsLimits) {
  Module module("mellanox_mma1b00");
  const auto facts =
      read_module_facts([&](const ModuleRange& range) { return read_by_ice(module.memory, range); }).value();
  EXPECT_EQ(facts.thresholds.temperature, module.facts.thresholds.temperature);
  EXPECT_EQ(facts.thresholds.supply, module.facts.thresholds.supply);
  EXPECT_EQ(facts.thresholds.tx_bias, module.facts.thresholds.tx_bias);
  EXPECT_EQ(facts.thresholds.tx_power, module.facts.thresholds.tx_power);
  EXPECT_EQ(facts.thresholds.rx_power, module.facts.thresholds.rx_power);
}

// Where monitors and thresholds are.
bool is_measured(const ModuleRange& range) {
  return range.address == 0x51 || range.page > 1 || range.offset == 14 || range.offset == 22;
}

TEST(RecordedModuleTest, ZerosBehindAnIdentityAreNeitherDarknessNorLimits) {
  for (const char* name : {"mellanox_mma1b00", "intel_ftlx8574d3bnl", "juniper_740_174932"}) {
    Module module(name);
    const auto read = [&](const ModuleRange& range) -> core::Result<std::vector<std::byte>> {
      if (is_measured(range)) return std::vector<std::byte>(range.length);
      return module.memory.read(range);
    };
    const ModuleFacts facts = read_module_facts(read).value();
    EXPECT_EQ(facts.part_number, module.facts.part_number);
    const PerQuantity<Thresholds>& limits = facts.thresholds;
    for (const Thresholds& of :
         {limits.temperature, limits.supply, limits.tx_bias, limits.tx_power, limits.rx_power})
      EXPECT_EQ(of, Thresholds()) << name;
    const ModuleReadings readings = read_module_readings(read, facts).value();
    EXPECT_FALSE(readings.temperature_celsius) << name;
    EXPECT_FALSE(readings.supply_volts) << name;
    EXPECT_TRUE(readings.lanes.empty()) << name;
  }
}

TEST(RecordedModuleTest, DarkLanesOfACmisModuleAreZero) {
  Module module("juniper_740_174932");
  const auto read = [&](const ModuleRange& range) -> core::Result<std::vector<std::byte>> {
    if (range.page == 0x11) return std::vector<std::byte>(range.length);
    return module.memory.read(range);
  };
  const ModuleReadings readings = read_module_readings(read, module.facts).value();
  ASSERT_EQ(readings.lanes.size(), module.readings.lanes.size());
  for (const ModuleLane& lane : readings.lanes) EXPECT_EQ(lane.rx_power_watts, 0.0) << lane.number;
}

}  // namespace
}  // namespace rdma_exporter::host
