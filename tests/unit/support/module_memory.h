// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <bit>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/module/module.h"

namespace rdma_exporter::test {

/// A module's memory. Offsets below 128 are those of the lower half, whatever the page.
class ModuleMemory {
 public:
  struct Place {
    std::uint8_t page = 0;
    unsigned offset = 0;
    std::uint8_t address = 0x50;
  };
  static Place lower(unsigned offset) { return {0, offset}; }
  static Place page(std::uint8_t number, unsigned offset) { return {number, offset}; }
  static Place a2(unsigned offset) { return {0, offset, 0x51}; }

  void u8(Place at, unsigned value) { memory_[key(at)] = static_cast<std::byte>(value); }
  void u16(Place at, unsigned value) {
    u8(at, value >> 8U);
    ++at.offset;
    u8(at, value & 0xffU);
  }
  void u16s(Place at, std::initializer_list<unsigned> values) {
    for (const unsigned value : values) {
      u16(at, value);
      at.offset += 2;
    }
  }
  void real(Place at, float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    u16s(at, {bits >> 16U, bits & 0xffffU});
  }
  void text(Place at, std::string_view value, unsigned length) {
    for (unsigned i = 0; i < length; ++i, ++at.offset)
      u8(at, i < value.size() ? static_cast<unsigned char>(value[i]) : ' ');
  }

  host::ReadModule reader() {
    return [this](const host::ModuleRange& range) { return read(range); };
  }
  core::Result<std::vector<std::byte>> read(const host::ModuleRange& range) {
    asked.push_back(range);
    if (refusal != 0) return core::os_error(refusal);
    std::vector<std::byte> bytes;
    for (unsigned i = 0; i < range.length; ++i)
      bytes.push_back(memory_[key({range.page, range.offset + i, range.address})]);
    return bytes;
  }

  std::vector<host::ModuleRange> asked;
  int refusal = 0;  ///< errno

 private:
  using Key = std::pair<unsigned, unsigned>;  // address and page, offset
  static Key key(Place at) {
    const bool shared = at.offset < 128;
    return {unsigned{at.address} << 8U | (shared ? 0U : at.page), at.offset};
  }
  std::map<Key, std::byte> memory_;
};

/// The memory of a real module: tests/unit/data/modules/ORIGIN.md.
inline ModuleMemory recorded_module(const std::string& name) {
  std::ifstream file(std::string(SOURCE_DIR) + "/tests/unit/data/modules/" + name + ".txt");
  if (!file) throw std::runtime_error("no module " + name);
  ModuleMemory memory;
  for (std::string line; std::getline(file, line);) {
    std::istringstream numbers(line);
    unsigned address = 0;
    unsigned page = 0;
    unsigned offset = 0;
    numbers >> std::hex >> address >> page >> offset;
    for (unsigned value = 0; numbers >> value; ++offset)
      memory.u8({static_cast<std::uint8_t>(page), offset, static_cast<std::uint8_t>(address)}, value);
  }
  return memory;
}

}  // namespace rdma_exporter::test
