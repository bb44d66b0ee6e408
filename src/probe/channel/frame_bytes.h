// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rdma_exporter::probe {

/// Appends numbers (big-endian) and texts.
class ByteWriter {
 public:
  void u8(std::uint64_t value) { number(value, 1); }
  void u16(std::uint64_t value) { number(value, 2); }
  void u32(std::uint64_t value) { number(value, 4); }
  void raw(std::span<const std::uint8_t> bytes) {
    for (const std::uint8_t byte : bytes) bytes_.push_back(std::byte{byte});
  }
  /// Appends a text: its length, then at most `most` of its bytes.
  void text(std::string_view text, std::size_t most) {
    text = text.substr(0, most);
    u8(text.size());
    for (const char c : text) bytes_.push_back(static_cast<std::byte>(c));
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void number(std::uint64_t value, unsigned size) {
    for (unsigned shift = 8 * size; shift > 0; shift -= 8)
      bytes_.push_back(static_cast<std::byte>(value >> (shift - 8)));
  }
  std::vector<std::byte> bytes_;
};

/// Reads them. A value that is missing or out of range makes the reader invalid permanently, and what it
/// returns from then on is meaningless. Check complete() at the end.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : left_(bytes) {}

  std::uint8_t u8(std::uint64_t least = 0, std::uint64_t most = 0xff) {
    return static_cast<std::uint8_t>(number(1, least, most));
  }
  std::uint16_t u16(std::uint64_t most = 0xffff) { return static_cast<std::uint16_t>(number(2, 0, most)); }
  std::uint32_t u32(std::uint64_t most = 0xffffffff) {
    return static_cast<std::uint32_t>(number(4, 0, most));
  }
  void raw(std::span<std::uint8_t> to) {
    for (std::uint8_t& byte : to) byte = u8();
  }
  /// Printable ASCII of at most `most` bytes, because it is used in labels and logs.
  std::string text(std::size_t most) {
    std::string text(u8(0, most), '\0');
    for (char& c : text) c = static_cast<char>(u8(' ', '~'));
    return good_ ? text : std::string();
  }
  void require(bool holds) { good_ = good_ && holds; }
  bool complete() const { return good_ && left_.empty(); }

 private:
  std::uint64_t number(std::size_t size, std::uint64_t least, std::uint64_t most) {
    if (!good_ || left_.size() < size) {
      good_ = false;
      return least;
    }
    std::uint64_t value = 0;
    for (const std::byte byte : left_.first(size)) value = value << 8 | std::to_integer<std::uint64_t>(byte);
    left_ = left_.subspan(size);
    require(value >= least && value <= most);
    return value;
  }

  std::span<const std::byte> left_;
  bool good_ = true;
};

}  // namespace rdma_exporter::probe
