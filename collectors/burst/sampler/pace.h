// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "collectors/burst/window.h"

namespace rdma_exporter::collectors {

/// The tick at which counters are read next.
struct Tick {
  BurstClock::time_point at;
  std::int64_t number = 0;  ///< number of the window since 1970
};

/// Returns the first multiple of `window` since 1970 that is more than a quarter of a window ahead. Hosts
/// then read at the same moments, as far as their clocks agree, and a thread that wakes early does not read
/// twice. `now` and `wall` are the same moment.
Tick next_tick(BurstClock::time_point now, std::chrono::system_clock::time_point wall,
               std::chrono::nanoseconds window);

/// Lengthens the window while sampling costs too much: doubles it while reads take more than a twentieth of
/// the time or the thread exceeds its CPU share, up to kLongest, and halves it again after a minute in which
/// both were below half of that. Not thread-safe.
class Pace {
 public:
  /// `window` is the shortest window, as configured.
  explicit Pace(std::chrono::nanoseconds window) : shortest_(window), window_(window) {}

  std::chrono::nanoseconds window() const { return window_; }

  /// Reports the cost of a tick. `cpu_limit` is a CPU share, 0.01 for one per cent.
  void account(BurstClock::time_point now, std::chrono::nanoseconds reading, std::chrono::nanoseconds cpu,
               double cpu_limit);

  static constexpr double kReadingLimit = 0.05;
  static constexpr std::chrono::nanoseconds kLongest = std::chrono::seconds(1);
  static constexpr std::chrono::seconds kCalm{60};

 private:
  const std::chrono::nanoseconds shortest_;
  std::chrono::nanoseconds window_;
  std::optional<BurstClock::time_point> since_;  ///< start of the time that the sums cover
  std::optional<BurstClock::time_point> calm_since_;
  std::chrono::nanoseconds reading_{0};
  std::chrono::nanoseconds cpu_{0};
};

/// Detects that a counter is refreshed less often than it is read: it stands still, and then moves by more
/// than the line can carry in one window. Traffic below the rate that causes such a step looks like bursts;
/// the two cannot be told apart. Not thread-safe.
class RefreshEstimate {
 public:
  /// Reports for each window whether a counter moved, and whether it moved by too much for the line.
  void take(BurstClock::time_point at, bool moved, bool too_much, std::chrono::nanoseconds window);

  /// The shortest time between two refreshes; nullopt while the counter looks refreshed in each window.
  std::optional<std::chrono::nanoseconds> found() const { return found_; }

  static constexpr unsigned kMoves = 16;  ///< moves that an estimate needs
  static constexpr unsigned kSteps = 3;   ///< how many of them have to be too large

 private:
  std::optional<BurstClock::time_point> last_;
  std::chrono::nanoseconds shortest_ = std::chrono::nanoseconds::max();
  unsigned moves_ = 0;
  unsigned steps_ = 0;
  std::optional<std::chrono::nanoseconds> found_;
};

}  // namespace rdma_exporter::collectors
