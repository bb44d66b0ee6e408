// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "host/module/module.h"

// What the decoders of the three standards have in common. Numbers in a module's memory are big-endian.
namespace rdma_exporter::host {

/// The bytes of one range, addressed by their offset in the module's memory.
class ModuleBytes {
 public:
  /// Reads [first, first + length) of `page`.
  static core::Result<ModuleBytes> read(const ReadModule& read, ModuleRange range);
  /// A range that begins with the identifier; EIO if it is blank.
  static core::Result<ModuleBytes> read_with_identifier(const ReadModule& read, ModuleRange range);

  /// Only zeros: what some drivers return, with success, for memory that they did not read.
  bool is_blank() const;

  /// Returns 0 for bytes that were not read.
  std::uint8_t u8(unsigned offset) const;
  std::uint16_t u16(unsigned offset) const;
  std::int16_t s16(unsigned offset) const { return static_cast<std::int16_t>(u16(offset)); }
  /// IEEE 754, single precision.
  double real(unsigned offset) const;
  /// Printable ASCII without the padding around it; '?' for each other character.
  std::string text(unsigned offset, unsigned length) const;

 private:
  ModuleBytes(unsigned first, std::vector<std::byte> bytes) : first_(first), bytes_(std::move(bytes)) {}
  unsigned first_;
  std::vector<std::byte> bytes_;
};

// Units of the raw numbers, the same in all three standards.
inline constexpr double kCelsius = 1.0 / 256;
inline constexpr double kVolts = 1e-4;
inline constexpr double kAmperes = 2e-6;
inline constexpr double kWatts = 1e-7;

/// Four thresholds at `offset`. None if the module left all of them 0, or a single one at FFFFh. A lower
/// limit of 0 means nothing for a value that cannot be negative.
Thresholds unsigned_thresholds(const ModuleBytes& bytes, unsigned offset, double scale);
Thresholds celsius_thresholds(const ModuleBytes& bytes, unsigned offset);

/// A temperature and a supply voltage; modules that do not measure leave 0 or FFFFh.
std::optional<double> celsius(const ModuleBytes& bytes, unsigned offset);
std::optional<double> volts(const ModuleBytes& bytes, unsigned offset);

/// SFF-8024, table 4-3 (connector) and the numbers of media that SFF-8636 (byte 147) and CMIS (00h:212) share
/// from 0 to 15.
std::string connector_name(std::uint8_t code);
std::string_view media_name(std::uint8_t technology);
/// A cable with both ends attached.
bool is_cable(std::uint8_t connector);

// One decoder a file. `facts` has standard and type.
core::Result<void> read_sff8472_facts(const ReadModule& read, ModuleFacts& facts);
core::Result<ModuleReadings> read_sff8472(const ReadModule& read, const ModuleFacts& facts);
core::Result<void> read_sff8636_facts(const ReadModule& read, ModuleFacts& facts);
core::Result<ModuleReadings> read_sff8636(const ReadModule& read, const ModuleFacts& facts);
core::Result<void> read_cmis_facts(const ReadModule& read, ModuleFacts& facts);
core::Result<ModuleReadings> read_cmis(const ReadModule& read, const ModuleFacts& facts);

}  // namespace rdma_exporter::host
