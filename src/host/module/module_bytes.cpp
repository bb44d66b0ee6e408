// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/module/module_bytes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <utility>

namespace rdma_exporter::host {
namespace {

constexpr std::uint16_t kUnset = 0xffff;

bool is_high(std::size_t level) {
  const auto which = static_cast<ThresholdLevel>(level);
  return which == ThresholdLevel::high_alarm || which == ThresholdLevel::high_warning;
}

// Without four numbers that are all 0.
bool has_thresholds(const ModuleBytes& bytes, unsigned offset) {
  for (unsigned i = 0; i < kThresholdLevels; ++i)
    if (bytes.u16(offset + 2 * i) != 0) return true;
  return false;
}

struct Connector {
  std::uint8_t code;
  std::string_view name;
};
constexpr std::uint8_t kCopperPigtail = 0x21;
constexpr std::uint8_t kNoSeparable = 0x23;
constexpr std::array kConnectors{Connector{0x01, "sc"},
                                 Connector{0x07, "lc"},
                                 Connector{0x0b, "optical_pigtail"},
                                 Connector{0x0c, "mpo_1x12"},
                                 Connector{0x0d, "mpo_2x16"},
                                 Connector{kCopperPigtail, "copper_pigtail"},
                                 Connector{0x22, "rj45"},
                                 Connector{kNoSeparable, "no_separable_connector"},
                                 Connector{0x24, "mxc"},
                                 Connector{0x25, "cs"},
                                 Connector{0x26, "sn"},
                                 Connector{0x27, "mpo_2x12"},
                                 Connector{0x28, "mpo_1x16"}};

}  // namespace

core::Result<ModuleBytes> ModuleBytes::read(const ReadModule& read, ModuleRange range) {
  return read(range).map(
      [&](std::vector<std::byte> bytes) { return ModuleBytes(range.offset, std::move(bytes)); });
}

core::Result<ModuleBytes> ModuleBytes::read_with_identifier(const ReadModule& read, ModuleRange range) {
  auto bytes = ModuleBytes::read(read, range);
  if (bytes && bytes->is_blank()) return core::os_error(EIO);
  return bytes;
}

bool ModuleBytes::is_blank() const {
  return std::all_of(bytes_.begin(), bytes_.end(), [](std::byte byte) { return byte == std::byte{0}; });
}

std::uint8_t ModuleBytes::u8(unsigned offset) const {
  const bool inside = offset >= first_ && offset - first_ < bytes_.size();
  return inside ? std::to_integer<std::uint8_t>(bytes_[offset - first_]) : std::uint8_t{0};
}

std::uint16_t ModuleBytes::u16(unsigned offset) const {
  return static_cast<std::uint16_t>(u8(offset) << 8U | u8(offset + 1));
}

double ModuleBytes::real(unsigned offset) const {
  const std::uint32_t bits = std::uint32_t{u16(offset)} << 16U | u16(offset + 2);
  return static_cast<double>(std::bit_cast<float>(bits));
}

std::string ModuleBytes::text(unsigned offset, unsigned length) const {
  std::string text;
  for (unsigned i = 0; i < length; ++i) {
    const auto c = static_cast<char>(u8(offset + i));
    if (c == '\0') break;
    text += c >= ' ' && c <= '~' ? c : '?';
  }
  const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
  text.erase(0, begin);
  text.erase(text.find_last_not_of(' ') + 1);
  // An empty memory reads FFh.
  return text.find_first_not_of('?') == std::string::npos ? std::string() : text;
}

Thresholds unsigned_thresholds(const ModuleBytes& bytes, unsigned offset, double scale) {
  Thresholds thresholds;
  for (unsigned i = 0; i < kThresholdLevels; ++i) {
    const std::uint16_t raw = bytes.u16(offset + 2 * i);
    if (raw != 0 && raw != kUnset) thresholds[i] = raw * scale;
  }
  return thresholds;
}

Thresholds celsius_thresholds(const ModuleBytes& bytes, unsigned offset) {
  Thresholds thresholds;
  if (!has_thresholds(bytes, offset)) return thresholds;
  for (unsigned i = 0; i < kThresholdLevels; ++i) {
    const std::uint16_t raw = bytes.u16(offset + 2 * i);
    // 0 degrees is an ordinary lower limit, but no upper one.
    if (raw != kUnset && !(raw == 0 && is_high(i))) thresholds[i] = bytes.s16(offset + 2 * i) * kCelsius;
  }
  return thresholds;
}

std::optional<double> celsius(const ModuleBytes& bytes, unsigned offset) {
  const std::uint16_t raw = bytes.u16(offset);
  if (raw == 0 || raw == kUnset) return std::nullopt;
  return bytes.s16(offset) * kCelsius;
}

std::optional<double> volts(const ModuleBytes& bytes, unsigned offset) {
  const std::uint16_t raw = bytes.u16(offset);
  if (raw == 0 || raw == kUnset) return std::nullopt;
  return raw * kVolts;
}

std::string connector_name(std::uint8_t code) {
  const auto known = std::find_if(kConnectors.begin(), kConnectors.end(),
                                  [&](const Connector& connector) { return connector.code == code; });
  if (known != kConnectors.end()) return std::string(known->name);
  constexpr std::string_view kDigits = "0123456789abcdef";
  return {'0', 'x', kDigits[code >> 4U], kDigits[code & 0xfU]};
}

std::string_view media_name(std::uint8_t technology) {
  constexpr std::uint8_t kFirstCopper = 0x0a;  // unequalised; 0Bh is passive with equalisers
  constexpr std::uint8_t kFirstActiveCopper = 0x0c;
  constexpr std::uint8_t kLastCopper = 0x0f;
  if (technology < kFirstCopper || technology > kLastCopper) return "optical";
  return technology < kFirstActiveCopper ? "passive_copper" : "active_copper";
}

bool is_cable(std::uint8_t connector) { return connector == kNoSeparable || connector == kCopperPigtail; }

}  // namespace rdma_exporter::host
