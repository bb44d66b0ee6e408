// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// SFF-8636: QSFP, QSFP+, QSFP28. Four lanes. The lower half has the monitors, page 00h the identity, page 03h
// the thresholds.
#include <cerrno>

#include "host/module/module_bytes.h"

namespace rdma_exporter::host {
namespace {

constexpr unsigned kLanes = 4;
// Byte 2.
constexpr unsigned kNotReady = 1U << 0U;
constexpr unsigned kFlat = 1U << 2U;
// Byte 220 of page 00h.
constexpr unsigned kTxPower = 1U << 2U;
constexpr unsigned kRxIsAverage = 1U << 3U;

constexpr unsigned kTemperature = 22;
constexpr unsigned kSupply = 26;
constexpr unsigned kRxPower = 34;
constexpr unsigned kTxBias = 42;
constexpr unsigned kTxPowerLanes = 50;

void read_identity(const ModuleBytes& page, ModuleFacts& facts) {
  facts.connector = connector_name(page.u8(130));
  facts.media = media_name(page.u8(147) >> 4U);
  facts.vendor = page.text(148, 16);
  facts.part_number = page.text(168, 16);
  facts.revision = page.text(184, 2);
  facts.serial_number = page.text(196, 16);
  if (is_cable(page.u8(130)) && page.u8(146) != 0 && page.u8(146) != 0xff) facts.cable_meters = page.u8(146);
}

// Reads the four thresholds of one quantity at a time. If bit 2 of the third byte of a longer range is set,
// ice takes the range for the start of the memory: it returns the first eight bytes and zeros
// (ice_get_module_eeprom).
core::Result<void> read_thresholds(const ReadModule& read, ModuleFacts& facts) {
  const auto limits_at = [&](std::uint8_t offset) {
    return ModuleBytes::read(read, {.page = 3, .offset = offset, .length = 8});
  };
  struct Limits {
    bool measured;
    std::uint8_t offset;
    double unit;
    Thresholds& out;
  };
  const PerQuantity<bool>& measures = facts.measures;
  PerQuantity<Thresholds>& out = facts.thresholds;
  if (measures.temperature) {
    const auto bytes = limits_at(128);
    if (!bytes) return tl::unexpected(bytes.error());
    out.temperature = celsius_thresholds(*bytes, 128);
  }
  for (const Limits& limits : {Limits{measures.supply, 144, kVolts, out.supply},
                               Limits{measures.rx_power, 176, kWatts, out.rx_power},
                               Limits{measures.tx_bias, 184, kAmperes, out.tx_bias},
                               Limits{measures.tx_power, 192, kWatts, out.tx_power}}) {
    if (!limits.measured) continue;
    const auto bytes = limits_at(limits.offset);
    if (!bytes) return tl::unexpected(bytes.error());
    limits.out = unsigned_thresholds(*bytes, limits.offset, limits.unit);
  }
  return {};
}

}  // namespace

core::Result<void> read_sff8636_facts(const ReadModule& read, ModuleFacts& facts) {
  const auto status = ModuleBytes::read(read, {.offset = 0, .length = 3});
  if (!status) return tl::unexpected(status.error());
  // For up to two seconds after it was plugged in, its measurements are not valid yet.
  if ((status->u8(2) & kNotReady) != 0) return core::os_error(EAGAIN);
  const auto page = ModuleBytes::read_with_identifier(read, {.page = 0, .offset = 128, .length = 128});
  if (!page) return tl::unexpected(page.error());
  read_identity(*page, facts);
  if (facts.media == "passive_copper") return {};
  const unsigned options = page->u8(220);
  facts.measures.temperature = facts.measures.supply = true;
  if (facts.media == "optical") {
    facts.measures.tx_bias = facts.measures.rx_power = true;
    facts.measures.tx_power = (options & kTxPower) != 0;
    facts.rx_power_kind = (options & kRxIsAverage) != 0 ? "average" : "oma";
    facts.lanes = (1U << kLanes) - 1;
  }
  if ((status->u8(2) & kFlat) != 0) return {};
  return read_thresholds(read, facts);
}

core::Result<ModuleReadings> read_sff8636(const ReadModule& read, const ModuleFacts& facts) {
  if (!facts.measures.temperature) return ModuleReadings{};
  const auto lower = ModuleBytes::read(read, {.offset = kTemperature, .length = 36});
  if (!lower) return tl::unexpected(lower.error());
  if (lower->is_blank()) return ModuleReadings{};
  ModuleReadings readings{celsius(*lower, kTemperature), volts(*lower, kSupply), {}};
  if (facts.lanes == 0) return readings;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    ModuleLane& out = readings.lanes.emplace_back();
    out.number = lane + 1;
    out.rx_power_watts = lower->u16(kRxPower + 2 * lane) * kWatts;
    out.tx_bias_amperes = lower->u16(kTxBias + 2 * lane) * kAmperes;
    if (facts.measures.tx_power) out.tx_power_watts = lower->u16(kTxPowerLanes + 2 * lane) * kWatts;
  }
  return readings;
}

}  // namespace rdma_exporter::host
