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

/// Position in a recording that is played in a loop.
struct Position {
  std::size_t snapshot = 0;
  std::uint64_t rounds = 0;  ///< how often it has restarted
  bool operator==(const Position&) const = default;
};

/// Plays the snapshots of a recording at the pace at which they were taken. The last one is shown for as long
/// as the one before it; then the first one follows. Thread-safe.
class Player {
 public:
  using Clock = std::chrono::steady_clock;

  /// Starts at `start`. `recording` must have at least one snapshot.
  Player(Recording recording, Clock::time_point start);

  const Recording& recording() const { return recording_; }
  Position at(Clock::time_point now) const;

  /// Shows the snapshot that is due at `now`; true if it differs from the one before. Between two calls all
  /// answers come from one snapshot.
  bool advance(Clock::time_point now) { return show(at(now)); }
  /// Shows this position.
  bool show(Position position);
  Position shown() const;
  /// The answer in the current snapshot; nullptr if the question was not asked then.
  const Answer* find(std::string_view question) const { return recording_.find(question, shown().snapshot); }

 private:
  const Recording recording_;
  const Clock::time_point start_;
  std::vector<std::chrono::milliseconds> ends_;  ///< end of each snapshot, from the start of a round
  std::atomic<std::uint64_t> shown_{0};          ///< number of snapshots shown before, in all rounds
};

}  // namespace rdma_exporter::record
