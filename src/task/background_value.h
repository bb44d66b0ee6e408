// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "log/caught.h"
#include "task/background.h"
#include "task/schedule.h"

namespace rdma_exporter::task {

/// The last good value, with its age, of a source that takes longer to read than a scrape may. One pass at a
/// time reads it, if the schedule says so and somebody asks. A pass that is stuck in the kernel holds only
/// what it shares with this object. Thread-safe.
template <typename T>
class BackgroundValue {
 public:
  using Value = std::shared_ptr<const T>;

  /// The result of the last successful pass.
  struct Reading {
    Value value;                  ///< null before the first one
    Clock::time_point read_at{};  ///< when that pass began: the value is at least as recent
  };

  /// `background` outlives it. `complaint` is static text for the log, for exceptions thrown by a pass.
  BackgroundValue(Background& background, Schedule schedule, std::string_view complaint)
      : background_(&background), state_(std::make_shared<State>(schedule, complaint)) {}

  /// Starts a pass if one is due at `now` and none is running. `read` returns a Value on a background thread;
  /// after null or an exception the last value stays. `ended` is called there when the result is in place,
  /// before those who wait for the pass continue; it must not throw.
  template <typename Read, typename Ended>
  void read_if_due(Clock::time_point now, Read read, Ended ended) {
    {
      const std::lock_guard lock(state_->mutex);
      if (state_->started) return background_->tend();
      if (!state_->schedule.take(now)) return;
      state_->started = now;
    }
    try {
      background_->start([state = state_, read = std::move(read), ended = std::move(ended)] {
        state->keep(state->pass(read));
        ended();
        state->end();
      });
    } catch (...) {  // out of memory: the pass is not under way
      state_->end();
      throw;
    }
  }

  /// Whether read_if_due() has anything to do at `now`, for a `read` that is expensive to make.
  bool wants(Clock::time_point now) const {
    const std::lock_guard lock(state_->mutex);
    return state_->started || state_->schedule.due(now);
  }

  template <typename Read>
  void read_if_due(Clock::time_point now, Read read) {
    read_if_due(now, std::move(read), [] {});
  }

  /// Makes the next pass due at `next`, whatever the schedule says.
  void postpone(Clock::time_point next) {
    const std::lock_guard lock(state_->mutex);
    state_->schedule.postpone(next);
  }
  /// Makes the next pass due at once.
  void reset() { postpone({}); }

  Reading latest() const {
    const std::lock_guard lock(state_->mutex);
    return state_->latest;
  }
  /// When the running pass was started.
  std::optional<Clock::time_point> running_since() const {
    const std::lock_guard lock(state_->mutex);
    return state_->started;
  }
  /// Waits until no pass is running. False if one still runs at `deadline`.
  bool wait_until(Clock::time_point deadline) const {
    std::unique_lock lock(state_->mutex);
    return state_->idle.wait_until(lock, deadline, [this] { return !state_->started; });
  }

 private:
  struct State {
    State(Schedule when, std::string_view what) : complaint(what), schedule(when) {}
    template <typename Read>
    Value pass(const Read& read) const {
      try {
        return read();
      } catch (const std::exception& error) {
        log::caught(complaint, error);
        return nullptr;
      }
    }
    void keep(Value value) {
      const std::lock_guard lock(mutex);
      if (value) latest = {std::move(value), *started};
    }
    void end() {
      const std::lock_guard lock(mutex);
      started.reset();
      idle.notify_all();
    }

    const std::string_view complaint;
    std::mutex mutex;
    std::condition_variable idle;
    Schedule schedule;
    std::optional<Clock::time_point> started;
    Reading latest;
  };

  Background* background_;
  std::shared_ptr<State> state_;
};

}  // namespace rdma_exporter::task
