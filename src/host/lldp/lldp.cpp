// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/lldp/lldp.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

namespace rdma_exporter::host {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::size_t kEthernetHeader = 14;
constexpr std::size_t kMacBytes = 6;

// 802.1AB-2016, table 8-1.
enum class Type : std::uint8_t {
  end = 0,
  chassis_id = 1,
  port_id = 2,
  ttl = 3,
  port_description = 4,
  system_name = 5,
  management_address = 8,
};

struct Tlv {
  Type type;
  Bytes value;
};

std::uint16_t u16(Bytes bytes, std::size_t at) {
  return static_cast<std::uint16_t>(std::to_integer<unsigned>(bytes[at]) << 8U |
                                    std::to_integer<unsigned>(bytes[at + 1]));
}

// Removes the next TLV from the front; nullopt if the rest is not a TLV.
std::optional<Tlv> take_tlv(Bytes& rest) {
  constexpr std::size_t kHeader = 2;
  if (rest.size() < kHeader) return std::nullopt;
  const std::uint16_t head = u16(rest, 0);
  const std::size_t length = head & 0x1ffU;
  if (rest.size() - kHeader < length) return std::nullopt;
  const Tlv tlv{static_cast<Type>(head >> 9U), rest.subspan(kHeader, length)};
  rest = rest.subspan(kHeader + length);
  return tlv;
}

std::string text(Bytes bytes) {
  std::string out;
  for (const std::byte byte : bytes.first(std::min(bytes.size(), LldpNeighbor::kMaxText))) {
    const auto c = static_cast<char>(byte);
    if (c == '\0') break;  // some end it as C does
    out += c >= ' ' && c <= '~' ? c : '?';
  }
  return out;
}

std::string mac(Bytes bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const std::byte byte : bytes) {
    const auto value = std::to_integer<unsigned>(byte);
    if (!out.empty()) out += ':';
    out += kDigits[value >> 4U];
    out += kDigits[value & 0xfU];
  }
  return out;
}

// A family of IANA's registry of address family numbers, then the address.
std::string address(Bytes bytes) {
  constexpr auto kIpv4 = std::byte{1};
  constexpr auto kIpv6 = std::byte{2};
  constexpr auto kMac = std::byte{6};
  if (bytes.empty()) return {};
  const std::byte family = bytes[0];
  const Bytes value = bytes.subspan(1);
  std::array<char, INET6_ADDRSTRLEN> out{};
  if (family == kIpv4 && value.size() == sizeof(in_addr))
    return ::inet_ntop(AF_INET, value.data(), out.data(), out.size());
  if (family == kIpv6 && value.size() == sizeof(in6_addr))
    return ::inet_ntop(AF_INET6, value.data(), out.data(), out.size());
  return family == kMac && value.size() == kMacBytes ? mac(value) : std::string();
}

// A subtype, then 1 to 255 bytes; `mac_subtype` and `address_subtype` differ between chassis and port.
std::optional<std::string> identifier(const Tlv& tlv, std::byte mac_subtype, std::byte address_subtype) {
  constexpr std::size_t kLongest = 256;
  if (tlv.value.size() < 2 || tlv.value.size() > kLongest) return std::nullopt;
  const Bytes value = tlv.value.subspan(1);
  if (tlv.value[0] == mac_subtype && value.size() == kMacBytes) return mac(value);
  if (tlv.value[0] == address_subtype) {
    if (std::string known = address(value); !known.empty()) return known;
  }
  return text(value);
}

// The length of family and address, the two themselves, then the interface number, which is not used.
std::string management_address(Bytes value) {
  if (value.empty()) return {};
  const auto length = std::to_integer<std::size_t>(value[0]);
  return length < value.size() ? address(value.subspan(1, length)) : std::string();
}

// The three TLVs with which every frame begins.
std::optional<LldpNeighbor> mandatory(Bytes& rest) {
  const auto chassis = take_tlv(rest);
  const auto port = chassis ? take_tlv(rest) : std::nullopt;
  const auto ttl = port ? take_tlv(rest) : std::nullopt;
  if (!ttl || chassis->type != Type::chassis_id || port->type != Type::port_id || ttl->type != Type::ttl)
    return std::nullopt;
  const auto chassis_id = identifier(*chassis, std::byte{4}, std::byte{5});
  const auto port_id = identifier(*port, std::byte{3}, std::byte{4});
  if (!chassis_id || !port_id || ttl->value.size() < sizeof(std::uint16_t)) return std::nullopt;
  LldpNeighbor neighbor;
  neighbor.chassis_id = *chassis_id;
  neighbor.port_id = *port_id;
  neighbor.ttl = std::chrono::seconds(u16(ttl->value, 0));
  return neighbor;
}

void take_optional(const Tlv& tlv, LldpNeighbor& neighbor) {
  if (tlv.type == Type::port_description) neighbor.port_description = text(tlv.value);
  if (tlv.type == Type::system_name) neighbor.system_name = text(tlv.value);
  if (tlv.type == Type::management_address && neighbor.management_address.empty())
    neighbor.management_address = management_address(tlv.value);
}

}  // namespace

core::Result<LldpNeighbor> parse_lldp(std::span<const std::byte> frame) {
  if (frame.size() < kEthernetHeader || u16(frame, 2 * kMacBytes) != kLldpEthertype)
    return core::parse_error();
  Bytes rest = frame.subspan(kEthernetHeader);
  auto neighbor = mandatory(rest);
  if (!neighbor) return core::parse_error();
  while (!rest.empty()) {
    const auto tlv = take_tlv(rest);
    if (!tlv) return core::parse_error();
    if (tlv->type == Type::end) break;
    take_optional(*tlv, *neighbor);
  }
  return std::move(*neighbor);
}

void LldpNeighbors::take(std::span<const std::byte> frame, Clock::time_point heard, Clock::time_point now) {
  ++frames_;
  auto neighbor = parse_lldp(frame);
  if (!neighbor) {
    ++malformed_;
    return;
  }
  std::erase_if(known_, [&](const Known& known) { return known.neighbor.is_same(*neighbor); });
  expire(now);
  Known added{std::move(*neighbor), heard};
  if (added.expires() <= now) return;
  if (known_.size() == kMax) {
    ++evicted_;
    known_.erase(std::min_element(known_.begin(), known_.end(),
                                  [](const Known& a, const Known& b) { return a.expires() < b.expires(); }));
  }
  known_.push_back(std::move(added));
}

void LldpNeighbors::expire(Clock::time_point now) {
  std::erase_if(known_, [&](const Known& known) { return known.expires() <= now; });
}

}  // namespace rdma_exporter::host
