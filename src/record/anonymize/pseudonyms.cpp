// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "record/anonymize/pseudonyms.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "record/question.h"

namespace rdma_exporter::record {
namespace {

template <typename Bytes>
bool is_zero(const Bytes& bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

// The bytes from `first` on, as a key of a table.
template <typename Bytes>
std::string key(const Bytes& bytes, std::size_t first, std::size_t count) {
  return {reinterpret_cast<const char*>(bytes.data()) + first, count};
}

// Stores the number in the last `count` bytes.
template <typename Bytes>
void put_number(Bytes& bytes, std::size_t end, std::size_t count, std::uint32_t number) {
  for (std::size_t i = 0; i < count; ++i, number >>= 8U)
    bytes[end - 1 - i] = static_cast<std::uint8_t>(number & 0xFFU);
}

constexpr std::string_view kNicPart = "nic";
constexpr std::size_t kMakerBytes = 3;

// Whether a GUID contains a MAC address, as in EUI-64 and NVIDIA's GUIDs.
bool is_made_of_mac(const Pseudonyms::Guid& guid) {
  return (guid[3] == 0xFF && guid[4] == 0xFE) || (guid[3] == 0x03 && guid[4] == 0x00);
}

}  // namespace

std::uint32_t Pseudonyms::number(std::string_view kind, std::string_view real) {
  const auto [entry, is_new] = numbers_.try_emplace({std::string(kind), std::string(real)});
  if (is_new) entry->second = ++last_[std::string(kind)];
  return entry->second;
}

std::string Pseudonyms::name(std::string_view kind, std::string_view real) {
  return std::string(kind) + "-" + std::to_string(number(kind, real));
}

std::string Pseudonyms::hex_id(std::string_view real) {
  std::string digits;
  std::copy_if(real.begin(), real.end(), std::back_inserter(digits),
               [](char c) { return c != '-' && c != '_'; });
  std::array<std::uint8_t, 4> last{};
  put_number(last, last.size(), last.size(), number("id", digits));
  const std::string ending = to_hex(chars(std::as_bytes(std::span(last))));
  std::string result(real);
  std::size_t taken = 0;
  for (auto c = result.rbegin(); c != result.rend(); ++c) {  // NOLINT(modernize-loop-convert): backwards
    if (*c == '-' || *c == '_') continue;
    *c = taken < ending.size() ? ending[ending.size() - 1 - taken] : '0';
    ++taken;
  }
  return result;
}

Pseudonyms::Mac Pseudonyms::mac(const Mac& real) {
  const bool broadcast =
      std::all_of(real.begin(), real.end(), [](std::uint8_t byte) { return byte == 0xFF; });
  if (is_zero(real) || broadcast) return real;
  Mac other = real;
  put_number(other, other.size(), other.size() - kMakerBytes, number(kNicPart, key(real, kMakerBytes, 3)));
  return other;
}

Pseudonyms::Guid Pseudonyms::guid(const Guid& real) {
  if (is_zero(real)) return real;
  Guid other = real;
  if (is_made_of_mac(real)) {
    put_number(other, other.size(), 3, number(kNicPart, key(real, 5, 3)));
  } else {
    other[3] = 0;
    put_number(other, other.size(), 4, number("guid", key(real, kMakerBytes, 5)));
  }
  return other;
}

Pseudonyms::Guid Pseudonyms::subnet_prefix(const Guid& real) {
  constexpr Guid kLinkLocal{0xFE, 0x80};
  if (is_zero(real) || real == kLinkLocal) return real;
  Guid other{0x20, 0x01, 0x0D, 0xB8};  // RFC 3849
  put_number(other, other.size(), 4, number("prefix", key(real, 0, real.size())));
  return other;
}

Pseudonyms::Ipv4 Pseudonyms::ipv4(const Ipv4& real) {
  if (is_zero(real) || real[0] == 127) return real;
  const std::uint32_t number = this->number("ipv4", key(real, 0, real.size()));
  Ipv4 other{198, 18, 0, 0};
  put_number(other, other.size(), 2, number);
  if (number > 0xFFFF) other[1] = 19;
  return other;
}

Pseudonyms::Gid Pseudonyms::gid(const Gid& real) {
  constexpr std::array<std::uint8_t, 12> kMappedV4{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  constexpr Gid kLoopback{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  if (is_zero(real) || real == kLoopback) return real;
  Gid other = real;
  if (std::equal(kMappedV4.begin(), kMappedV4.end(), real.begin())) {
    Ipv4 address{};
    std::copy(real.begin() + 12, real.end(), address.begin());
    const Ipv4 changed = ipv4(address);
    std::copy(changed.begin(), changed.end(), other.begin() + 12);
    return other;
  }
  Guid prefix{};
  Guid identifier{};
  std::copy_n(real.begin(), 8, prefix.begin());
  std::copy_n(real.begin() + 8, 8, identifier.begin());
  prefix = subnet_prefix(prefix);
  identifier = guid(identifier);
  std::copy(prefix.begin(), prefix.end(), other.begin());
  std::copy(identifier.begin(), identifier.end(), other.begin() + 8);
  return other;
}

}  // namespace rdma_exporter::record
