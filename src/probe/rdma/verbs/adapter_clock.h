// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace rdma_exporter::probe {

/// The clock with which an adapter timestamps completions. It has an arbitrary origin and wraps; only
/// differences below wrap() are meaningful.
struct AdapterClock {
  std::uint64_t mask = 0;  ///< of the valid bits, which are the lowest ones
  std::uint64_t khz = 0;
  bool operator==(const AdapterClock&) const = default;
};

/// From completion_timestamp_mask and hca_core_clock (kHz, 0 without a clock) of ibv_query_device_ex(3).
/// nullopt if the clock wraps within a minute, the longest deadline of an operation. mlx5 (63 bits) and mlx4
/// (48 bits at some 400 MHz) qualify. irdma does not with any kernel (17 bits without a frequency; since
/// 6.18, 32 bits at 1 GHz), nor does zxdh (17 bits at 1 GHz): as the timestamp, their user-space drivers
/// return a field of the completion that has TCP's round trip time and is not a clock.
std::optional<AdapterClock> usable_clock(std::uint64_t mask, std::uint64_t khz);

/// Time after which the clock repeats itself. At most std::chrono::nanoseconds::max().
std::chrono::nanoseconds wrap(const AdapterClock& clock);
/// From one timestamp to a later one, possibly across a wrap. At most std::chrono::nanoseconds::max().
std::chrono::nanoseconds elapsed(const AdapterClock& clock, std::uint64_t from, std::uint64_t to);

/// The round trip of the second of two operations that were posted together, where the second started when
/// the first ended: the time between the timestamps of their ends. `span`: from before the post until after
/// both ends, by the host's clock. nullopt: the result is impossible or cannot be determined.
std::optional<std::chrono::nanoseconds> second_round_trip(const AdapterClock& clock, std::uint64_t first_end,
                                                          std::uint64_t second_end,
                                                          std::chrono::nanoseconds span);

}  // namespace rdma_exporter::probe
