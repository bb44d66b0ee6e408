// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace rdma_exporter::task {

using Clock = std::chrono::steady_clock;

/// When something is to be done again. It has no clock and starts nothing: whoever does the work asks, with
/// the time of its run. Not thread-safe.
class Schedule {
 public:
  /// Due at once, then every `interval`; after failures, up to `max_interval` if that is longer.
  explicit Schedule(Clock::duration interval, Clock::duration max_interval = {})
      : interval_(interval), max_interval_(std::max(interval, max_interval)), wait_(interval) {}
  /// Due every 80 to 120 % of `interval`, depending on a hash of `owner`, so that the devices of a host are
  /// not all due in the same scrape.
  Schedule(Clock::duration interval, const std::string& owner)
      : Schedule(interval * static_cast<int>(80 + std::hash<std::string>{}(owner) % 41) / 100) {}

  bool due(Clock::time_point now) const { return now >= next_; }
  /// Returns whether it is due. If so, it is due again an interval after `now`.
  bool take(Clock::time_point now) {
    if (!due(now)) return false;
    next_ = now + wait_;
    return true;
  }
  /// Makes it due again an interval after `now` and ends the back-off.
  void restart(Clock::time_point now) {
    wait_ = interval_;
    next_ = now + wait_;
  }
  /// Makes it due again after twice the last wait.
  void back_off(Clock::time_point now) {
    wait_ = std::min(2 * wait_, max_interval_);
    next_ = now + wait_;
  }
  /// Makes it due at the given time; the back-off continues.
  void postpone(Clock::time_point next) { next_ = next; }
  /// Makes it due at once and ends the back-off.
  void reset() { *this = Schedule(interval_, max_interval_); }

 private:
  Clock::duration interval_;
  Clock::duration max_interval_;
  Clock::duration wait_;
  Clock::time_point next_;
};

/// Decides whether to retry something that is tried in each scrape while it works. Small, because there are
/// many of these. The first two failures have no effect; from the third on it rests, for 1 s at first and 60
/// s at most.
class Backoff {
 public:
  bool allows(Clock::time_point now) const { return now >= not_before_; }
  void succeeded() { *this = {}; }
  void failed(Clock::time_point now) {
    if (++failures_ < kFree) return;
    const unsigned doublings = std::min(failures_ - kFree, kMaxDoublings);
    not_before_ = now + std::min(kMaxRest, std::chrono::seconds(1U << doublings));
  }

 private:
  static constexpr unsigned kFree = 3;
  static constexpr unsigned kMaxDoublings = 6;
  static constexpr std::chrono::seconds kMaxRest{60};

  unsigned failures_ = 0;
  Clock::time_point not_before_;
};

/// When facts that rarely change are to be read again: once per interval, or, after an attempt that failed,
/// as soon as a Backoff allows. A moment without free file descriptors does not hide them for a whole
/// interval.
class RetryingSchedule {
 public:
  /// As Schedule.
  RetryingSchedule(Clock::duration interval, const std::string& owner) : schedule_(interval, owner) {}

  /// Returns whether it is due. If so, call ended() with the same `now`.
  bool take(Clock::time_point now) {
    const bool retry = failed_ && backoff_.allows(now);
    return schedule_.take(now) || retry;
  }
  void ended(bool failed, Clock::time_point now) {
    failed_ = failed;
    failed ? backoff_.failed(now) : backoff_.succeeded();
  }
  /// Whether the last attempt failed.
  bool failed() const { return failed_; }
  /// Makes it due at once.
  void reset() { schedule_.reset(); }

 private:
  Schedule schedule_;
  Backoff backoff_;
  bool failed_ = false;
};

}  // namespace rdma_exporter::task
