// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace rdma_exporter::probe {

/// The clock that an adapter stamps completions with. It counts ticks from anywhere and wraps; only
/// differences mean anything, and only those below wrap().
struct AdapterClock {
  std::uint64_t mask = 0;  ///< of the bits that count, the lowest ones
  std::uint64_t khz = 0;
  bool operator==(const AdapterClock&) const = default;
};

/// Of what ibv_query_device_ex(3) says: completion_timestamp_mask and hca_core_clock (kHz), 0 without a
/// clock. nullopt unless it counts for a minute, the longest deadline of an operation, before it wraps. mlx5
/// (63 bits) and mlx4 (48 bits at some 400 MHz) do. irdma does not, by any of its kernels (17 bits without a
/// frequency, since 6.18 32 bits at 1 GHz), nor does zxdh (17 bits at 1 GHz): what their user space drivers
/// return as the stamp is a field of the completion for round trips as TCP sees them, and no clock.
std::optional<AdapterClock> usable_clock(std::uint64_t mask, std::uint64_t khz);

/// Time after which the clock shows the same again. At most std::chrono::nanoseconds::max().
std::chrono::nanoseconds wrap(const AdapterClock& clock);
/// From one stamp to a later one, across a wrap if need be. At most std::chrono::nanoseconds::max().
std::chrono::nanoseconds elapsed(const AdapterClock& clock, std::uint64_t from, std::uint64_t to);

/// The round trip of the second of two operations that were posted together, and of which the second began at
/// the end of the first: between the stamps of their ends. `span`: from before the post to after both ends,
/// by the host's clock. nullopt: that cannot be, or cannot be told.
std::optional<std::chrono::nanoseconds> second_round_trip(const AdapterClock& clock, std::uint64_t first_end,
                                                          std::uint64_t second_end,
                                                          std::chrono::nanoseconds span);

}  // namespace rdma_exporter::probe
