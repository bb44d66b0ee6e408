// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "record/archive/recording.h"

namespace rdma_exporter::record {

/// Where a recording stands that plays again and again.
struct Position {
  std::size_t snapshot = 0;
  std::uint64_t rounds = 0;  ///< how often it has begun again
  bool operator==(const Position&) const = default;
};

/// Plays the snapshots of a recording in the time in which they were made. The last one stays as long as the
/// one before it, then the first one follows. Thread-safe.
class Player {
 public:
  using Clock = std::chrono::steady_clock;

  /// Begins at `start`. `recording` has at least one snapshot.
  Player(Recording recording, Clock::time_point start);

  const Recording& recording() const { return recording_; }
  Position at(Clock::time_point now) const;

  /// Shows what is due at `now`; true when that is something else than before. Between two calls all answers
  /// are of one snapshot.
  bool advance(Clock::time_point now) { return show(at(now)); }
  /// Shows this.
  bool show(Position position);
  Position shown() const;
  /// The answer in the snapshot that is shown; nullptr where nobody asked then.
  const Answer* find(std::string_view question) const { return recording_.find(question, shown().snapshot); }

 private:
  const Recording recording_;
  const Clock::time_point start_;
  std::vector<std::chrono::milliseconds> ends_;  ///< of each snapshot, from the start of a round
  std::atomic<std::uint64_t> shown_{0};          ///< snapshots shown before it, in all rounds
};

}  // namespace rdma_exporter::record
