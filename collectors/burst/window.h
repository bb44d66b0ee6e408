// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace rdma_exporter::collectors {

using BurstClock = std::chrono::steady_clock;

/// When a read of counters began and ended. What it returned is taken for the state half-way.
struct ReadTime {
  BurstClock::time_point begin;
  BurstClock::time_point end;

  BurstClock::duration spent() const { return end - begin; }
  BurstClock::time_point middle() const { return begin + spent() / 2; }
};

/// The result of the window between two readings, the worst last.
enum class WindowResult : std::uint8_t {
  used,
  reset,        ///< a counter fell, stands at the highest value of its field, or the port's rate changed
  implausible,  ///< more than the line can carry in that time
  late,         ///< a reading took too long, or came too early or too late, to tell what happened in a window
  error,        ///< the reading failed
};
inline constexpr std::array<std::string_view, 5> kWindowResults{"used", "reset", "implausible", "late",
                                                                "error"};

/// How long a window is meant to be, and how many windows of the histogram it stands for: what is read once a
/// second while it rests counts as so many windows of the same mean.
struct Cadence {
  std::chrono::nanoseconds window{};
  unsigned windows = 1;

  std::chrono::nanoseconds expected() const { return window * windows; }
};

/// Whether the time between two readings is not such a window: shorter than half or longer than twice of what
/// was expected, or one of the two reads took more than a tenth of it, so that it is unknown when the kernel
/// took the values.
bool is_late(const ReadTime& before, const ReadTime& after, std::chrono::nanoseconds expected);

/// Returns how much a counter of this width has risen. A narrow one may have wrapped once. nullopt: it was
/// reset, or it stands at 2^32-1, where the port counters of old adapters stick although the file has room
/// for 64 bits (drivers/infiniband/core/sysfs.c, PortCounters without the extended ones).
std::optional<std::uint64_t> increase(std::uint64_t before, std::uint64_t after, unsigned bits);

/// The highest value of the last minute, second by second. Not thread-safe.
class RecentMaximum {
 public:
  void observe(double value, BurstClock::time_point now);
  /// nullopt if nothing was observed in the last 60 seconds.
  std::optional<double> get(BurstClock::time_point now) const;

 private:
  static constexpr std::size_t kSeconds = 60;
  struct Slot {
    std::int64_t second = -1;
    double maximum = 0;
  };
  std::array<Slot, kSeconds> slots_{};
};

}  // namespace rdma_exporter::collectors
