// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "record/archive/tar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>

namespace rdma_exporter::record::tar {
namespace {

using Block = std::span<const char, kBlock>;

// Position of a field (POSIX.1-1988, 10.1.1; tar.h of glibc).
struct Field {
  std::size_t start;
  std::size_t size;
};
constexpr Field kName{0, 100};
constexpr Field kMode{100, 8};
constexpr Field kOwner{108, 8};
constexpr Field kGroup{116, 8};
constexpr Field kSize{124, 12};
constexpr Field kTime{136, 12};
constexpr Field kChecksum{148, 8};
constexpr Field kType{156, 1};
constexpr Field kMagic{257, 8};
constexpr Field kPrefix{345, 155};  // precedes the name, separated by a slash

constexpr std::string_view kUstar(
    "ustar\0"
    "00",
    8);

std::string_view bytes_of(Block block, Field field) { return {block.data() + field.start, field.size}; }

// The text up to the first NUL.
std::string_view text_of(Block block, Field field) {
  const std::string_view bytes = bytes_of(block, field);
  return bytes.substr(0, bytes.find('\0'));
}

// Octal digits; some writers put blanks around them.
std::optional<std::uint64_t> number_of(Block block, Field field) {
  std::string_view digits = text_of(block, field);
  digits.remove_prefix(std::min(digits.find_first_not_of(' '), digits.size()));
  digits = digits.substr(0, digits.find(' '));
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, 8);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

// The sum of all bytes, with blanks in place of the checksum field.
std::uint64_t checksum(Block block) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kBlock; ++i) {
    const bool own = i >= kChecksum.start && i < kChecksum.start + kChecksum.size;
    sum += static_cast<unsigned char>(own ? ' ' : block[i]);
  }
  return sum;
}

Kind kind_of(char type) {
  if (type == '0' || type == '\0') return Kind::file;
  return type == 'x' || type == 'g' ? Kind::comment : Kind::other;
}

using NewBlock = std::array<char, kBlock>;

void put(NewBlock& block, Field field, std::string_view bytes) {
  if (bytes.size() > field.size) throw std::length_error("too long for a tar archive");
  std::copy(bytes.begin(), bytes.end(), block.begin() + static_cast<std::ptrdiff_t>(field.start));
}

// Writes octal digits, followed by a NUL.
void put_number(NewBlock& block, Field field, std::uint64_t number) {
  std::string digits(field.size - 1, '0');
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, number /= 8)
    *digit = static_cast<char>('0' + number % 8);
  if (number != 0) throw std::length_error("too large for a tar archive");
  put(block, field, digits);
}

void pad(std::string& archive) { archive.resize((archive.size() + kBlock - 1) / kBlock * kBlock); }

}  // namespace

std::optional<Header> parse_header(Block block) {
  const auto sum = number_of(block, kChecksum);
  const auto size = number_of(block, kSize);
  if (!sum || !size || *sum != checksum(block) || *size > kMaxSize) return std::nullopt;
  std::string name(text_of(block, kName));
  const std::string_view prefix = text_of(block, kPrefix);
  if (bytes_of(block, kMagic) == kUstar && !prefix.empty()) name = std::string(prefix) + "/" + name;
  return Header{std::move(name), *size, kind_of(block[kType.start])};
}

bool is_end(Block block) {
  return std::all_of(block.begin(), block.end(), [](char c) { return c == '\0'; });
}

void append_file(std::string& archive, std::string_view name, std::string_view content, std::int64_t time) {
  NewBlock block{};
  if (name.size() >= kName.size || time < 0) throw std::length_error("too long for a tar archive");
  put(block, kName, name);
  put_number(block, kMode, 0644);
  put_number(block, kOwner, 0);
  put_number(block, kGroup, 0);
  put_number(block, kSize, content.size());
  put_number(block, kTime, static_cast<std::uint64_t>(time));
  put(block, kType, "0");
  put(block, kMagic, kUstar);
  put_number(block, kChecksum, checksum(block));
  archive.append(block.data(), block.size()).append(content);
  pad(archive);
}

void append_end(std::string& archive) { archive.append(2 * kBlock, '\0'); }

}  // namespace rdma_exporter::record::tar
