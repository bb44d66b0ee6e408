// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>

#include "config/config.h"
#include "core/job.h"
#include "core/result.h"
#include "record/player.h"

namespace rdma_exporter::app {

/// Serves a recording that plays: moves it on between two collections, and keeps counters rising when it
/// begins again. What a series has gained from the first snapshot to the last one is added for each round;
/// series that are not in both, or have fallen, begin again, as after a reset.
class Replay : public std::enable_shared_from_this<Replay> {
 public:
  /// nullptr when --replay names no archive. Unpacks it and reads all of its counters twice, which takes
  /// a while.
  static core::Result<std::shared_ptr<Replay>> open(const config::Config& config);

  Replay(const config::Config& config, std::shared_ptr<record::Player> player);

  const std::shared_ptr<record::Player>& player() const { return player_; }
  /// One line about what the recording is.
  void log() const;
  /// Shows what is due at `now`; true when it is another snapshot. Called between two collections.
  bool advance(record::Player::Clock::time_point now) { return player_->advance(now); }
  /// The job with counters that go on rising; for the same job the same one as long as it lives.
  std::shared_ptr<core::Job> continued(const std::shared_ptr<core::Job>& job);

  /// What to add to the counter of that series in each round. 0 for what has no such gain.
  using Gain = std::variant<std::uint64_t, double>;
  const Gain* gain(const std::string& series) const;

 private:
  std::shared_ptr<record::Player> player_;
  std::map<std::string, Gain> gains_;
  std::map<core::Job*, std::weak_ptr<core::Job>> continued_;
};

/// "NAME{LABELS}".
std::string series_name(const core::Sample& sample);

}  // namespace rdma_exporter::app
