// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "host/lldp/lldp.h"

namespace rdma_exporter::host {

/// Who is at the other end of one wire, by the frames that came in. One thread at a time.
class LldpNeighbors {
 public:
  using Clock = std::chrono::steady_clock;

  struct Known {
    LldpNeighbor neighbor;
    Clock::time_point heard;
    Clock::time_point expires() const { return heard + neighbor.ttl; }
  };

  /// A frame that came in at `heard`. When there is no room, the one that expires first makes room.
  void take(std::span<const std::byte> frame, Clock::time_point heard, Clock::time_point now);
  /// Forgets those whose time to live is over.
  void expire(Clock::time_point now);

  const std::vector<Known>& all() const { return known_; }
  std::uint64_t frames() const { return frames_; }
  std::uint64_t malformed() const { return malformed_; }
  /// Neighbours beyond kMax that were forgotten before their time.
  std::uint64_t evicted() const { return evicted_; }

  static constexpr std::size_t kMax = 32;

 private:
  std::vector<Known> known_;
  std::uint64_t frames_ = 0;
  std::uint64_t malformed_ = 0;
  std::uint64_t evicted_ = 0;
};

}  // namespace rdma_exporter::host
