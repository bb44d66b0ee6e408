// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/module/module.h"

#include <gtest/gtest.h>

#include "tests/unit/support/synthetic_module.h"

namespace rdma_exporter::host {
namespace {

using M = test::ModuleMemory;

ModuleFacts facts_of(M& module) {
  const auto facts = read_module_facts(module.reader());
  EXPECT_TRUE(facts.has_value());
  return facts.value_or(ModuleFacts{});
}
ModuleReadings readings_of(M& module) {
  const auto readings = read_module_readings(module.reader(), facts_of(module));
  EXPECT_TRUE(readings.has_value());
  return readings.value_or(ModuleReadings{});
}
double at(const Thresholds& thresholds, ThresholdLevel level) {
  return thresholds[static_cast<std::size_t>(level)].value();
}
bool has(const Thresholds& thresholds, ThresholdLevel level) {
  return thresholds[static_cast<std::size_t>(level)].has_value();
}

TEST(ModuleTest, ReadsWhoAQsfpIs) {
  auto module = test::qsfp28_sr4();
  const ModuleFacts facts = facts_of(module);
  EXPECT_EQ(facts.type, "qsfp28");
  EXPECT_EQ(facts.connector, "mpo_1x12");
  EXPECT_EQ(facts.media, "optical");
  EXPECT_EQ(facts.vendor, "EXAMPLE OPTICS");
  EXPECT_EQ(facts.part_number, "EX-100G-SR4");
  EXPECT_EQ(facts.revision, "A1");
  EXPECT_EQ(facts.serial_number, "EX123456");
  EXPECT_EQ(facts.rx_power_kind, "average");
  EXPECT_FALSE(facts.cable_meters) << "the reach of a transceiver is no length of a cable";
}

TEST(ModuleTest, ReadsWhatAQsfpMeasures) {
  auto module = test::qsfp28_sr4();
  const ModuleReadings readings = readings_of(module);
  EXPECT_DOUBLE_EQ(readings.temperature_celsius.value(), 31.5);
  EXPECT_DOUBLE_EQ(readings.supply_volts.value(), 3.3012);
  ASSERT_EQ(readings.lanes.size(), 4U);
  EXPECT_EQ(readings.lanes[2].number, 3U);
  EXPECT_DOUBLE_EQ(readings.lanes[0].rx_power_watts.value(), 0.8e-3);
  EXPECT_DOUBLE_EQ(readings.lanes[2].tx_bias_amperes.value(), 7.6e-3);
  EXPECT_DOUBLE_EQ(readings.lanes[1].tx_power_watts.value(), 0.91e-3);
  EXPECT_DOUBLE_EQ(readings.lanes[3].rx_power_watts.value(), 0) << "no light is a value";
}

TEST(ModuleTest, ReadsThresholdsAndLeavesOutThoseThatSayNothing) {
  auto module = test::qsfp28_sr4();
  const PerQuantity<Thresholds> thresholds = facts_of(module).thresholds;
  EXPECT_DOUBLE_EQ(at(thresholds.temperature, ThresholdLevel::high_alarm), 75);
  EXPECT_DOUBLE_EQ(at(thresholds.temperature, ThresholdLevel::low_alarm), -5);
  EXPECT_DOUBLE_EQ(at(thresholds.temperature, ThresholdLevel::low_warning), 0) << "freezing is a limit";
  EXPECT_DOUBLE_EQ(at(thresholds.supply, ThresholdLevel::low_warning), 3.135);
  EXPECT_DOUBLE_EQ(at(thresholds.rx_power, ThresholdLevel::low_alarm), 40.7e-6);
  EXPECT_DOUBLE_EQ(at(thresholds.tx_bias, ThresholdLevel::high_warning), 9e-3);
  EXPECT_FALSE(has(thresholds.tx_power, ThresholdLevel::low_alarm)) << "0: nothing is below it";
  EXPECT_FALSE(has(thresholds.tx_power, ThresholdLevel::low_warning)) << "FFFFh: not set";
}

TEST(ModuleTest, LeavesOutThresholdsThatAreAllZero) {
  auto module = test::qsfp28_sr4();
  module.u16s(M::page(3, 128), {0, 0, 0, 0});
  for (const auto& threshold : facts_of(module).thresholds.temperature) EXPECT_FALSE(threshold);
}

TEST(ModuleTest, DoesNotServeTransmitPowerThatAQsfpLacks) {
  auto module = test::qsfp28_sr4();
  module.u8(M::page(0, 220), 0x08);
  for (const ModuleLane& lane : readings_of(module).lanes) EXPECT_FALSE(lane.tx_power_watts);
  EXPECT_FALSE(has(facts_of(module).thresholds.tx_power, ThresholdLevel::high_alarm));
}

TEST(ModuleTest, WaitsForAQsfpThatIsNotReady) {
  auto module = test::qsfp28_sr4();
  module.u8(M::lower(2), 0x01);
  const auto facts = read_module_facts(module.reader());
  ASSERT_FALSE(facts);
  EXPECT_TRUE(core::is_errno(facts.error(), EAGAIN));
}

TEST(ModuleTest, PassiveCopperMeasuresNothingAndHasALength) {
  auto module = test::qsfp28_copper();
  const ModuleFacts facts = facts_of(module);
  EXPECT_EQ(facts.media, "passive_copper");
  EXPECT_EQ(facts.connector, "no_separable_connector");
  EXPECT_DOUBLE_EQ(facts.cable_meters.value(), 3);
  module.asked.clear();
  const ModuleReadings readings = read_module_readings(module.reader(), facts).value();
  EXPECT_FALSE(readings.temperature_celsius);
  EXPECT_FALSE(readings.supply_volts);
  EXPECT_TRUE(readings.lanes.empty());
  EXPECT_TRUE(module.asked.empty()) << "nothing to ask its bus for";
}

TEST(ModuleTest, ReadsACmisModuleWithTheLanesItHas) {
  auto module = test::qsfp_dd_dr4();
  const ModuleFacts facts = facts_of(module);
  EXPECT_EQ(facts.type, "qsfp_dd");
  EXPECT_EQ(facts.media, "optical");
  EXPECT_EQ(facts.vendor, "EXAMPLE OPTICS");
  EXPECT_EQ(facts.part_number, "EX-400G-DR4");
  EXPECT_EQ(facts.serial_number, "DD0042");
  EXPECT_EQ(facts.rx_power_kind, "average");
  const ModuleReadings readings = readings_of(module);
  EXPECT_DOUBLE_EQ(readings.temperature_celsius.value(), 50.5);
  EXPECT_DOUBLE_EQ(readings.supply_volts.value(), 3.298);
  ASSERT_EQ(readings.lanes.size(), 4U);
  EXPECT_DOUBLE_EQ(readings.lanes[3].tx_power_watts.value(), 1.23e-3);
  EXPECT_DOUBLE_EQ(readings.lanes[3].rx_power_watts.value(), 1.13e-3);
}

// CMIS 8.4.8: "bias current scaling"; the raw unit of 2 uA is multiplied, thresholds as well.
TEST(ModuleTest, ScalesTheBiasOfACmisModule) {
  auto module = test::qsfp_dd_dr4();
  EXPECT_DOUBLE_EQ(readings_of(module).lanes[0].tx_bias_amperes.value(), 60e-3);
  const Thresholds& bias = facts_of(module).thresholds.tx_bias;
  EXPECT_DOUBLE_EQ(at(bias, ThresholdLevel::high_alarm), 100e-3);
  EXPECT_DOUBLE_EQ(at(bias, ThresholdLevel::low_warning), 30e-3);
}

TEST(ModuleTest, ServesWhatACmisModuleSaysItMeasures) {
  auto module = test::qsfp_dd_dr4();
  module.u8(M::page(1, 159), 0x01);
  module.u8(M::page(1, 160), 0x04);
  const ModuleReadings readings = readings_of(module);
  EXPECT_TRUE(readings.temperature_celsius);
  EXPECT_FALSE(readings.supply_volts);
  ASSERT_EQ(readings.lanes.size(), 4U);
  EXPECT_TRUE(readings.lanes[0].rx_power_watts);
  EXPECT_FALSE(readings.lanes[0].tx_bias_amperes);
  EXPECT_FALSE(readings.lanes[0].tx_power_watts);
}

TEST(ModuleTest, ACmisCableWithoutPagesHasALengthOnly) {
  M module;
  module.u8(M::lower(0), 0x19);
  module.u8(M::lower(2), 0x80);
  module.u8(M::page(0, 202), 0x40 | 2);
  module.u8(M::page(0, 203), 0x23);
  module.u8(M::page(0, 212), 0x0a);
  const ModuleFacts facts = facts_of(module);
  EXPECT_EQ(facts.type, "osfp");
  EXPECT_EQ(facts.media, "passive_copper");
  EXPECT_DOUBLE_EQ(facts.cable_meters.value(), 2);
  EXPECT_EQ(facts.lanes, 0);
  for (const auto& [multiplier, meters] : {std::pair{0x00, 0.2}, {0x80, 20.0}, {0xc0, 200.0}}) {
    module.u8(M::page(0, 202), static_cast<unsigned>(multiplier) | 2);
    EXPECT_DOUBLE_EQ(facts_of(module).cable_meters.value(), meters);
  }
  module.u8(M::page(0, 202), 0xff);
  EXPECT_FALSE(facts_of(module).cable_meters) << "longer than 6.3 km";
}

TEST(ModuleTest, ReadsAnSfp) {
  auto module = test::sfp28_sr();
  const ModuleFacts facts = facts_of(module);
  EXPECT_EQ(facts.type, "sfp");
  EXPECT_EQ(facts.connector, "lc");
  EXPECT_EQ(facts.vendor, "EXAMPLE OPTICS");
  EXPECT_EQ(facts.serial_number, "S25-9");
  EXPECT_DOUBLE_EQ(at(facts.thresholds.temperature, ThresholdLevel::low_alarm), -10);
  EXPECT_DOUBLE_EQ(at(facts.thresholds.tx_bias, ThresholdLevel::high_alarm), 12e-3);
  const ModuleReadings readings = readings_of(module);
  EXPECT_DOUBLE_EQ(readings.temperature_celsius.value(), -9.5);
  EXPECT_DOUBLE_EQ(readings.supply_volts.value(), 3.3);
  ASSERT_EQ(readings.lanes.size(), 1U);
  EXPECT_DOUBLE_EQ(readings.lanes[0].tx_bias_amperes.value(), 6e-3);
  EXPECT_DOUBLE_EQ(readings.lanes[0].tx_power_watts.value(), 0.6e-3);
  EXPECT_DOUBLE_EQ(readings.lanes[0].rx_power_watts.value(), 0.5e-3);
}

// SFF-8472, 9.3: raw * slope + offset; received power is a polynomial.
TEST(ModuleTest, CalibratesAnSfpThatLeavesItToTheReader) {
  auto module = test::sfp28_sr(true);
  const ModuleReadings readings = readings_of(module);
  EXPECT_DOUBLE_EQ(readings.temperature_celsius.value(), -7.5);
  EXPECT_DOUBLE_EQ(readings.lanes[0].tx_bias_amperes.value(), 12e-3);
  EXPECT_DOUBLE_EQ(readings.lanes[0].tx_power_watts.value(), (6000 * 1.5 - 100) * 1e-7);
  EXPECT_DOUBLE_EQ(readings.lanes[0].rx_power_watts.value(), (5000 * 0.5 + 10) * 1e-7);
  const ModuleFacts facts = facts_of(module);
  EXPECT_DOUBLE_EQ(at(facts.thresholds.temperature, ThresholdLevel::high_alarm), 82);
  EXPECT_DOUBLE_EQ(at(facts.thresholds.rx_power, ThresholdLevel::low_alarm), (407 * 0.5 + 10) * 1e-7);
}

// A module without monitors may refuse to be addressed there at all.
TEST(ModuleTest, DoesNotTouchTheSecondMemoryOfAnSfpWithoutMonitors) {
  for (const unsigned diagnostics : {0x00U, 0x6cU}) {  // none; only after a write that changes the address
    auto module = test::sfp28_sr();
    module.u8(M::lower(92), diagnostics);
    EXPECT_TRUE(readings_of(module).lanes.empty());
    for (const ModuleRange& range : module.asked) EXPECT_EQ(range.address, 0x50);
  }
}

TEST(ModuleTest, SaysTheNumberOfATypeItDoesNotKnow) {
  M module;
  module.u8(M::lower(0), 0x7f);
  const ModuleFacts facts = facts_of(module);
  EXPECT_EQ(facts.type, "0x7f");
  EXPECT_EQ(facts.vendor, "");
  EXPECT_TRUE(readings_of(module).lanes.empty());
}

TEST(ModuleTest, MakesTextOfAnyBytesPrintable) {
  auto module = test::qsfp28_sr4();
  module.text(M::page(0, 148),
              "  A\x01\"\xff"
              "B",
              16);
  module.text(M::page(0, 168), std::string(16, '\xff'), 16);
  module.text(M::page(0, 196), std::string("S1\0junk", 7), 16);
  const ModuleFacts facts = facts_of(module);
  EXPECT_EQ(facts.vendor, "A?\"?B");
  EXPECT_EQ(facts.part_number, "");
  EXPECT_EQ(facts.serial_number, "S1");
}

TEST(ModuleTest, HandsOnTheErrorOfEveryRead) {
  for (auto make : {test::qsfp28_sr4, test::qsfp_dd_dr4, +[] { return test::sfp28_sr(); }}) {
    auto module = make();
    facts_of(module);
    for (std::size_t good = 0, reads = module.asked.size(); good < reads; ++good) {
      std::size_t read = 0;
      const auto facts = read_module_facts([&](const ModuleRange& range) {
        module.refusal = read++ < good ? 0 : EIO;
        return module.read(range);
      });
      ASSERT_FALSE(facts) << "read " << good;
      EXPECT_TRUE(core::is_errno(facts.error(), EIO));
    }
  }
}

// Reading them would take an alarm from whoever else looks (SFF-8636 4.4: "cleared on read").
TEST(ModuleTest, NeverReadsLatchedFlags) {
  const auto overlaps = [](const ModuleRange& range, unsigned first, unsigned last) {
    return range.offset <= last && range.offset + range.length > first;
  };
  auto qsfp = test::qsfp28_sr4();
  readings_of(qsfp);
  for (const ModuleRange& range : qsfp.asked) EXPECT_FALSE(overlaps(range, 3, 21)) << int{range.offset};
  auto cmis = test::qsfp_dd_dr4();
  readings_of(cmis);
  for (const ModuleRange& range : cmis.asked) {
    EXPECT_FALSE(overlaps(range, 8, 13)) << int{range.offset};
    EXPECT_FALSE(range.page == 0x11 && overlaps(range, 134, 153)) << int{range.offset};
  }
}

TEST(ModuleTest, AsksForRangesThatTheKernelTakes) {
  for (auto make :
       {test::qsfp28_sr4, test::qsfp28_copper, test::qsfp_dd_dr4, +[] { return test::sfp28_sr(); }}) {
    auto module = make();
    readings_of(module);
    for (const ModuleRange& range : module.asked) {
      EXPECT_GE(range.length, 1);
      EXPECT_LE(range.length, 128);
      EXPECT_EQ(range.offset / 128, (range.offset + range.length - 1) / 128) << "within one half";
      EXPECT_TRUE(range.page == 0 || range.offset >= 128) << "the lower half is on page 0";
    }
  }
}

}  // namespace
}  // namespace rdma_exporter::host
