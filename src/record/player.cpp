// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "record/player.h"

#include <algorithm>
#include <utility>

namespace rdma_exporter::record {
namespace {

using std::chrono::milliseconds;

// The times in a recording may be implausible.
constexpr milliseconds kShortest{100};
constexpr milliseconds kLongest = std::chrono::hours(24);

std::vector<milliseconds> ends_of(const std::vector<Manifest::SnapshotEntry>& snapshots) {
  std::vector<milliseconds> ends;
  milliseconds end{0};
  milliseconds length = kLongest;
  for (std::size_t i = 0; i < snapshots.size(); ++i) {
    if (i + 1 < snapshots.size())
      length = std::clamp(snapshots[i + 1].time - snapshots[i].time, kShortest, kLongest);
    ends.push_back(end += length);
  }
  return ends;
}

}  // namespace

Player::Player(Recording recording, Clock::time_point start)
    : recording_(std::move(recording)), start_(start), ends_(ends_of(recording_.manifest().snapshots)) {}

Position Player::at(Clock::time_point now) const {
  if (recording_.snapshots() == 1 || now < start_) return {};
  const auto played = std::chrono::duration_cast<milliseconds>(now - start_);
  const auto in_round = played % ends_.back();
  const auto current = std::upper_bound(ends_.begin(), ends_.end(), in_round);
  return {static_cast<std::size_t>(current - ends_.begin()),
          static_cast<std::uint64_t>(played / ends_.back())};
}

bool Player::show(Position position) {
  const std::uint64_t number = position.rounds * recording_.snapshots() + position.snapshot;
  return shown_.exchange(number) != number;
}

Position Player::shown() const {
  const std::uint64_t number = shown_.load();
  return {number % recording_.snapshots(), number / recording_.snapshots()};
}

}  // namespace rdma_exporter::record
