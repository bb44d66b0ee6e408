// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "host/events/changes.h"

namespace rdma_exporter::host {

/// Whether facts that change only with an event have to be read again: while all event sources work, they
/// hold until an event reports a change, and for kLongest at most. One thread at a time.
class Unchanged {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kLongest{60};

  /// `changes` outlives this object.
  explicit Unchanged(const Changes& changes) : changes_(changes) {}

  /// True if the facts about these devices or interfaces that were read last still hold. False: read them
  /// now; if that fails, or if what they say may change without an event, call forget().
  bool still(std::initializer_list<std::string_view> names, Clock::time_point now) {
    const bool complete = changes_.complete();
    std::uint64_t number = 0;
    for (const std::string_view name : names) number += changes_.of(name);
    if (complete && read_ && read_->number == number && now - read_->at < kLongest) return true;
    read_ = Read{number, now};
    return false;
  }
  void forget() { read_.reset(); }

 private:
  struct Read {
    std::uint64_t number;  ///< of the changes noted before
    Clock::time_point at;
  };
  const Changes& changes_;
  std::optional<Read> read_;
};

}  // namespace rdma_exporter::host
