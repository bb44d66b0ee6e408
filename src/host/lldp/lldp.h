// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"

// The Link Layer Discovery Protocol (IEEE 802.1AB): what a neighbour reports about itself in each frame.
// Input comes from the wire: any bytes.
namespace rdma_exporter::host {

inline constexpr std::uint16_t kLldpEthertype = 0x88cc;

/// Texts are printable ASCII, '?' for each other character, and at most kMaxText long.
struct LldpNeighbor {
  std::string chassis_id;        ///< a MAC address, an IP address, or the text that the neighbour chose
  std::string port_id;           ///< likewise
  std::string port_description;  ///< this and the next two are empty where the neighbour does not say
  std::string system_name;
  std::string management_address;  ///< the first one: IPv4, IPv6, or a MAC address
  std::chrono::seconds ttl{0};     ///< how long to believe it; 0: it says goodbye

  bool operator==(const LldpNeighbor&) const = default;
  /// Chassis and port identify a neighbour (802.1AB, 9.2.7.7).
  bool is_same(const LldpNeighbor& other) const {
    return chassis_id == other.chassis_id && port_id == other.port_id;
  }

  static constexpr std::size_t kMaxText = 128;
};

/// Parses an Ethernet frame (destination, source, 88cch, TLVs). A parse error for every other frame, and for
/// one that does not begin with chassis, port and time to live in this order (802.1AB, 9.2.7.7.1). Unknown
/// TLVs are skipped; what follows the end TLV is padding.
core::Result<LldpNeighbor> parse_lldp(std::span<const std::byte> frame);

/// The neighbours at the other end of one wire, as known from received frames. One thread at a time.
class LldpNeighbors {
 public:
  using Clock = std::chrono::steady_clock;

  struct Known {
    LldpNeighbor neighbor;
    Clock::time_point heard;
    Clock::time_point expires() const { return heard + neighbor.ttl; }
  };

  /// Adds a frame that was received at `heard`. If there is no room, the neighbour that expires first is
  /// dropped.
  void take(std::span<const std::byte> frame, Clock::time_point heard, Clock::time_point now);
  /// Drops neighbours whose time to live is over.
  void expire(Clock::time_point now);

  const std::vector<Known>& all() const { return known_; }
  std::uint64_t frames() const { return frames_; }
  std::uint64_t malformed() const { return malformed_; }
  /// Neighbours beyond kMax that were dropped before their time.
  std::uint64_t evicted() const { return evicted_; }

  static constexpr std::size_t kMax = 32;

 private:
  std::vector<Known> known_;
  std::uint64_t frames_ = 0;
  std::uint64_t malformed_ = 0;
  std::uint64_t evicted_ = 0;
};

}  // namespace rdma_exporter::host
