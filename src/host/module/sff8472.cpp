// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// SFF-8472: SFP to SFP28. One lane. The memory A0h (0x50) has the identity, A2h (0x51) the monitors, which
// not every module has.
#include <algorithm>
#include <numeric>

#include "host/module/module_bytes.h"

namespace rdma_exporter::host {
namespace {

constexpr std::uint8_t kMonitorMemory = 0x51;
// Byte 92 of A0h.
constexpr unsigned kAddressChange = 1U << 2U;  // A2h answers only after a write, which is not for a reader
constexpr unsigned kRxAverage = 1U << 3U;
constexpr unsigned kExternalCalibration = 1U << 4U;
constexpr unsigned kMonitors = 1U << 6U;
// Byte 8.
constexpr unsigned kPassiveCopper = 1U << 2U;
constexpr unsigned kActiveCopper = 1U << 3U;
constexpr std::uint8_t kRj45 = 0x22;

std::string_view media(const ModuleBytes& a0) {
  if ((a0.u8(8) & kPassiveCopper) != 0) return "passive_copper";
  if ((a0.u8(8) & kActiveCopper) != 0 || a0.u8(2) == kRj45) return "active_copper";
  return "optical";
}

ModuleCalibration calibration_of(const ModuleBytes& a2) {
  const auto line = [&](unsigned slope, unsigned offset) {
    constexpr double kSlope = 1.0 / 256;
    return ModuleCalibration::Line{a2.u16(slope) * kSlope, static_cast<double>(a2.s16(offset))};
  };
  return {.temperature = line(84, 86),
          .supply = line(88, 90),
          .tx_bias = line(76, 78),
          .tx_power = line(80, 82),
          .rx_power = {a2.real(72), a2.real(68), a2.real(64), a2.real(60), a2.real(56)}};
}

double calibrated(const ModuleCalibration::Line& line, double raw) { return line.slope * raw + line.offset; }

double calibrated(const std::array<double, 5>& coefficients, double raw) {
  const double value = std::accumulate(coefficients.rbegin(), coefficients.rend(), 0.0,
                                       [raw](double sum, double c) { return sum * raw + c; });
  return std::max(value, 0.0);  // less light than none is noise
}

// The thresholds are raw values too.
template <typename Calibration>
void calibrate(Thresholds& thresholds, const Calibration& calibration, double unit) {
  for (std::optional<double>& threshold : thresholds)
    if (threshold) threshold = calibrated(calibration, *threshold / unit) * unit;
}

void read_thresholds(const ModuleBytes& a2, ModuleFacts& facts) {
  facts.thresholds = {.temperature = celsius_thresholds(a2, 0),
                      .supply = unsigned_thresholds(a2, 8, kVolts),
                      .tx_bias = unsigned_thresholds(a2, 16, kAmperes),
                      .tx_power = unsigned_thresholds(a2, 24, kWatts),
                      .rx_power = unsigned_thresholds(a2, 32, kWatts)};
  calibrate(facts.thresholds.temperature, facts.calibration.temperature, kCelsius);
  calibrate(facts.thresholds.supply, facts.calibration.supply, kVolts);
  calibrate(facts.thresholds.tx_bias, facts.calibration.tx_bias, kAmperes);
  calibrate(facts.thresholds.tx_power, facts.calibration.tx_power, kWatts);
  calibrate(facts.thresholds.rx_power, facts.calibration.rx_power, kWatts);
}

}  // namespace

core::Result<void> read_sff8472_facts(const ReadModule& read, ModuleFacts& facts) {
  const auto a0 = ModuleBytes::read(read, {.offset = 0, .length = 96});
  if (!a0) return tl::unexpected(a0.error());
  facts.connector = connector_name(a0->u8(2));
  facts.media = media(*a0);
  facts.vendor = a0->text(20, 16);
  facts.part_number = a0->text(40, 16);
  facts.revision = a0->text(56, 4);
  facts.serial_number = a0->text(68, 16);
  if (is_cable(a0->u8(2)) && a0->u8(18) != 0 && a0->u8(18) != 0xff) facts.cable_meters = a0->u8(18);
  const unsigned diagnostics = a0->u8(92);
  if ((diagnostics & kMonitors) == 0 || (diagnostics & kAddressChange) != 0) return {};
  facts.measures = {true, true, true, true, true};
  facts.rx_power_kind = (diagnostics & kRxAverage) != 0 ? "average" : "oma";
  facts.lanes = 1;
  const auto a2 = ModuleBytes::read(read, {.address = kMonitorMemory, .page = 0, .offset = 0, .length = 96});
  if (!a2) return tl::unexpected(a2.error());
  if ((diagnostics & kExternalCalibration) != 0) facts.calibration = calibration_of(*a2);
  read_thresholds(*a2, facts);
  return {};
}

core::Result<ModuleReadings> read_sff8472(const ReadModule& read, const ModuleFacts& facts) {
  if (!facts.measures.temperature) return ModuleReadings{};
  const auto a2 = ModuleBytes::read(read, {.address = kMonitorMemory, .page = 0, .offset = 96, .length = 10});
  if (!a2) return tl::unexpected(a2.error());
  if (a2->is_blank()) return ModuleReadings{};
  const ModuleCalibration& calibration = facts.calibration;
  const ModuleLane lane{.number = 1,
                        .tx_bias_amperes = calibrated(calibration.tx_bias, a2->u16(100)) * kAmperes,
                        .tx_power_watts = calibrated(calibration.tx_power, a2->u16(102)) * kWatts,
                        .rx_power_watts = calibrated(calibration.rx_power, a2->u16(104)) * kWatts};
  return ModuleReadings{.temperature_celsius = calibrated(calibration.temperature, a2->s16(96)) * kCelsius,
                        .supply_volts = calibrated(calibration.supply, a2->u16(98)) * kVolts,
                        .lanes = {lane}};
}

}  // namespace rdma_exporter::host
