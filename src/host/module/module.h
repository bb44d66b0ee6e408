// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

// The memory in which a pluggable module (transceiver or cable) describes itself: SFF-8472 (SFP), SFF-8636
// (QSFP to QSFP28) and CMIS (QSFP-DD, OSFP and later). No I/O of its own: the caller provides the function
// that reads a range.
//
// Latched flags (SFF-8636 bytes 3-21; CMIS bytes 8-13 and page 11h bytes 134-153) are never read, because
// reading clears them for everybody else. Alarms follow from comparing monitors with thresholds.
namespace rdma_exporter::host {

/// A range of a module's memory, as ETHTOOL_MSG_MODULE_EEPROM_GET names it.
struct ModuleRange {
  std::uint8_t address = 0x50;  ///< on the I2C bus; 0x51 is the second memory of SFF-8472
  std::uint8_t page = 0;
  std::uint8_t offset = 0;  ///< 0 to 127 is the lower half, the same for all pages
  std::uint8_t length = 0;  ///< 1 to 128, within one half
  bool operator==(const ModuleRange&) const = default;
};

/// Reads a range: exactly `length` bytes, or an error.
using ReadModule = std::function<core::Result<std::vector<std::byte>>(const ModuleRange& range)>;

/// In the order of all three standards.
enum class ThresholdLevel : std::uint8_t { high_alarm, low_alarm, high_warning, low_warning };
std::string_view to_string(ThresholdLevel level);
inline constexpr std::size_t kThresholdLevels = 4;
/// By ThresholdLevel; nullopt where the module has none.
using Thresholds = std::array<std::optional<double>, kThresholdLevels>;

/// One value of each quantity that modules measure: degrees Celsius, volts, amperes, watts.
template <typename T>
struct PerQuantity {
  T temperature{};
  T supply{};
  T tx_bias{};
  T tx_power{};
  T rx_power{};
};

enum class ModuleStandard : std::uint8_t { unknown, sff8472, sff8636, cmis };

/// How raw values of a module with external calibration (SFF-8472, 9.3) are converted to units.
struct ModuleCalibration {
  struct Line {
    double slope = 1;
    double offset = 0;
  };
  Line temperature, supply, tx_bias, tx_power;
  /// Received power: c0 + c1 * raw + c2 * raw^2 + ...
  std::array<double, 5> rx_power{0, 1, 0, 0, 0};
};

/// What stays the same while a module is plugged in.
struct ModuleFacts {
  ModuleStandard standard = ModuleStandard::unknown;
  std::string type;       ///< "qsfp28"; "0x7f" for one that SFF-8024 did not have
  std::string connector;  ///< "lc", "mpo_1x12", "no_separable_connector"; "0x7f" likewise
  std::string media;      ///< "optical", "passive_copper", "active_copper"; empty: not known
  std::string vendor;     ///< this and the next three: printable, without padding
  std::string part_number;
  std::string revision;
  std::string serial_number;
  std::string rx_power_kind;  ///< "average" or "oma" (optical modulation amplitude); empty: not measured
  /// Length of a cable with both ends attached; a transceiver has none, nor has a cable longer than the field
  /// can express.
  std::optional<double> cable_meters;
  PerQuantity<bool> measures;
  std::uint8_t lanes = 0;  ///< bit n: lane n + 1 exists
  double bias_factor = 1;  ///< CMIS: what the raw bias is multiplied with
  ModuleCalibration calibration;
  PerQuantity<Thresholds> thresholds;
};

/// What a lane measures; nullopt: not measured.
struct ModuleLane {
  unsigned number = 0;  ///< from 1, as in the standards
  std::optional<double> tx_bias_amperes;
  std::optional<double> tx_power_watts;  ///< 0 when the laser is off
  std::optional<double> rx_power_watts;  ///< 0 when no light arrives
};

struct ModuleReadings {
  std::optional<double> temperature_celsius;
  std::optional<double> supply_volts;
  std::vector<ModuleLane> lanes;
};

/// Reads the identity and thresholds of the module: 3 to 8 ranges, at most 128 bytes each. Errors are those
/// of `read`. Of a module of an unknown kind only the type is known.
core::Result<ModuleFacts> read_module_facts(const ReadModule& read);

/// Reads what it measures now: 0 to 2 ranges. `facts` are those of the same module.
core::Result<ModuleReadings> read_module_readings(const ReadModule& read, const ModuleFacts& facts);

}  // namespace rdma_exporter::host
