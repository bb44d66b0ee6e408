// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// CMIS 4 and 5: QSFP-DD, OSFP, and later modules of the smaller forms. Up to eight lanes; those of further
// banks are not read, because drivers ignore the bank (mlx5). Page 00h identifies the module, 01h lists what
// it measures, 02h has the thresholds, 11h the monitors of the lanes.
#include "host/module/module_bytes.h"

namespace rdma_exporter::host {
namespace {

constexpr unsigned kLanes = 8;
constexpr unsigned kFlat = 1U << 7U;  // byte 2
constexpr unsigned kMedia = 85;
constexpr unsigned kPassiveCopper = 3;  // byte 85
constexpr unsigned kTemperature = 14;
constexpr unsigned kSupply = 16;
constexpr std::uint8_t kLanePage = 0x11;
constexpr unsigned kTxPower = 154;
constexpr unsigned kTxBias = 170;
constexpr unsigned kRxPower = 186;

// Bits 7-6 of byte 202 multiply bits 5-0; 255 is "longer than that".
std::optional<double> cable_meters(std::uint8_t length) {
  constexpr std::array<double, 4> kMultipliers{0.1, 1, 10, 100};
  if ((length & 0x3fU) == 0 || length == 0xff) return std::nullopt;
  return (length & 0x3fU) * kMultipliers[length >> 6U];
}

void read_identity(const ModuleBytes& page, ModuleFacts& facts) {
  facts.vendor = page.text(129, 16);
  facts.part_number = page.text(148, 16);
  facts.revision = page.text(164, 2);
  facts.serial_number = page.text(166, 16);
  facts.connector = connector_name(page.u8(203));
  facts.media = media_name(page.u8(212));
  if (is_cable(page.u8(203))) facts.cable_meters = cable_meters(page.u8(202));
}

// Bytes 151, 159 and 160 of page 01h.
void read_monitors(const ModuleBytes& page, ModuleFacts& facts) {
  const unsigned module = page.u8(159);
  const unsigned lanes = page.u8(160);
  facts.measures = {.temperature = (module & 1U) != 0,
                    .supply = (module & 2U) != 0,
                    .tx_bias = (lanes & 1U) != 0,
                    .tx_power = (lanes & 2U) != 0,
                    .rx_power = (lanes & 4U) != 0};
  facts.bias_factor = 1U << ((lanes >> 3U) & 3U);  // 1, 2, 4; 3 is reserved
  if (facts.bias_factor > 4) facts.bias_factor = 1;
  constexpr unsigned kRxAverage = 1U << 4U;  // byte 151
  if (facts.measures.rx_power) facts.rx_power_kind = (page.u8(151) & kRxAverage) != 0 ? "average" : "oma";
}

void read_thresholds(const ModuleBytes& page, ModuleFacts& facts) {
  const PerQuantity<bool>& measures = facts.measures;
  if (measures.temperature) facts.thresholds.temperature = celsius_thresholds(page, 128);
  if (measures.supply) facts.thresholds.supply = unsigned_thresholds(page, 136, kVolts);
  if (measures.tx_power) facts.thresholds.tx_power = unsigned_thresholds(page, 176, kWatts);
  if (measures.tx_bias)
    facts.thresholds.tx_bias = unsigned_thresholds(page, 184, kAmperes * facts.bias_factor);
  if (measures.rx_power) facts.thresholds.rx_power = unsigned_thresholds(page, 192, kWatts);
}

bool measures_lanes(const ModuleFacts& facts) {
  return facts.measures.tx_bias || facts.measures.tx_power || facts.measures.rx_power;
}

}  // namespace

core::Result<void> read_cmis_facts(const ReadModule& read, ModuleFacts& facts) {
  const auto status = ModuleBytes::read(read, {.offset = 0, .length = 3});
  if (!status) return tl::unexpected(status.error());
  const auto page = ModuleBytes::read_with_identifier(read, {.page = 0, .offset = 128, .length = 128});
  if (!page) return tl::unexpected(page.error());
  read_identity(*page, facts);
  // Some passive cables state it only here, and neither in byte 212 nor in byte 2.
  const auto media = ModuleBytes::read(read, {.offset = kMedia, .length = 1});
  if (!media) return tl::unexpected(media.error());
  if (media->u8(kMedia) == kPassiveCopper) facts.media = "passive_copper";
  if ((status->u8(2) & kFlat) != 0 || facts.media == "passive_copper") return {};
  const auto advertised = ModuleBytes::read(read, {.page = 1, .offset = 128, .length = 48});
  if (!advertised) return tl::unexpected(advertised.error());
  read_monitors(*advertised, facts);
  if (measures_lanes(facts)) facts.lanes = static_cast<std::uint8_t>(~page->u8(210));
  const auto limits = ModuleBytes::read(read, {.page = 2, .offset = 128, .length = 72});
  if (!limits) return tl::unexpected(limits.error());
  read_thresholds(*limits, facts);
  return {};
}

core::Result<ModuleReadings> read_cmis(const ReadModule& read, const ModuleFacts& facts) {
  ModuleReadings readings;
  if (facts.measures.temperature || facts.measures.supply) {
    const auto lower = ModuleBytes::read(read, {.offset = kTemperature, .length = 4});
    if (!lower) return tl::unexpected(lower.error());
    if (lower->is_blank()) return readings;  // the driver did not read it; the lanes alone may be 0: dark
    if (facts.measures.temperature) readings.temperature_celsius = celsius(*lower, kTemperature);
    if (facts.measures.supply) readings.supply_volts = volts(*lower, kSupply);
  }
  if (facts.lanes == 0) return readings;
  const auto page = ModuleBytes::read(read, {.page = kLanePage, .offset = kTxPower, .length = 48});
  if (!page) return tl::unexpected(page.error());
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if ((facts.lanes & (1U << lane)) == 0) continue;
    ModuleLane& out = readings.lanes.emplace_back();
    out.number = lane + 1;
    if (facts.measures.tx_bias)
      out.tx_bias_amperes = page->u16(kTxBias + 2 * lane) * kAmperes * facts.bias_factor;
    if (facts.measures.tx_power) out.tx_power_watts = page->u16(kTxPower + 2 * lane) * kWatts;
    if (facts.measures.rx_power) out.rx_power_watts = page->u16(kRxPower + 2 * lane) * kWatts;
  }
  return readings;
}

}  // namespace rdma_exporter::host
