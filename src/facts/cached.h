// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>

namespace rdma_exporter::facts {

using Clock = std::chrono::steady_clock;

/// How recent a fact has to be: at most `max_age` old at `now`.
struct Wanted {
  Clock::time_point now;
  Clock::duration max_age{};
  bool changed = false;  ///< something has changed: what an earlier reading found is no hint for the next

  /// For whom `age` is recent enough, unless something has changed.
  Wanted or_older(Clock::duration age) const {
    return {now, changed ? max_age : std::max(max_age, age), changed};
  }
};

/// A fact that several use: who finds it too old reads it, all others look it up. Thread-safe; who asks while
/// another thread reads it waits.
template <typename T>
class Cached {
 public:
  using Value = std::shared_ptr<const T>;

  /// `read` returns a T.
  template <typename Read>
  Value get(const Wanted& wanted, const Read& read) {
    const std::lock_guard lock(mutex_);
    if (!value_ || read_at_ < wanted.now - wanted.max_age) {
      value_ = std::make_shared<const T>(read());
      read_at_ = wanted.now;
    }
    return value_;
  }

  /// What is known already, however old; null if nothing is, or while it is read. Never waits.
  Value known() const {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    return lock ? value_ : nullptr;
  }

  /// Keeps what a collector has learned at `now` by other means. Allocates only if it is new.
  template <typename Learned>
  void put(const Learned& learned, Clock::time_point now) {
    const std::lock_guard lock(mutex_);
    if (!value_ || !(*value_ == learned)) value_ = std::make_shared<const T>(learned);
    read_at_ = now;
  }

 private:
  mutable std::mutex mutex_;
  Value value_;
  Clock::time_point read_at_{};
};

}  // namespace rdma_exporter::facts
