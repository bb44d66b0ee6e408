// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>

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

/// What all facts share: a large host has thousands of them, and a mutex is larger than most.
struct FactLock {
  std::mutex mutex;                 ///< held for moments, never while a fact is read
  std::condition_variable is_read;  ///< notified whenever one has been read

  /// Never destroyed: a thread whose device hangs may still wait when the process ends.
  static FactLock& instance() {
    static FactLock& lock = *new FactLock;
    return lock;
  }
};

/// A fact that several use: who finds it too old reads it, all others look it up. Thread-safe; who asks while
/// another thread reads it waits.
template <typename T>
class Cached {
 public:
  using Value = std::shared_ptr<const T>;

  /// `read` gets what was read before, or null, and returns a T.
  template <typename Read>
  Value get(const Wanted& wanted, const Read& read) {
    Lock lock(shared().mutex);
    shared().is_read.wait(lock, [this] { return !reading_; });
    if (value_ && read_at_ >= wanted.now - wanted.max_age) return value_;
    const Reading reading(*this, lock);
    auto value = std::make_shared<const T>(read(value_.get()));
    lock.lock();
    value_ = std::move(value);
    read_at_ = wanted.now;
    return value_;
  }

  /// What is known already, however old; null if nothing is. Never waits for a reading.
  Value known() const {
    const Lock lock(shared().mutex);
    return value_;
  }

  /// Keeps what a collector has learned at `now` by other means, unless a thread is reading the fact: that is
  /// at least as new. Allocates only if it is new.
  template <typename Learned>
  void put(const Learned& learned, Clock::time_point now) {
    const Lock lock(shared().mutex);
    if (reading_) return;
    if (!value_ || !(*value_ == learned)) value_ = std::make_shared<const T>(learned);
    read_at_ = now;
  }

 private:
  using Lock = std::unique_lock<std::mutex>;
  static FactLock& shared() { return FactLock::instance(); }

  /// Unlocks for as long as the fact is read, also where that throws.
  class Reading {
   public:
    Reading(Cached& fact, Lock& lock) : fact_(fact), lock_(lock) {
      fact_.reading_ = true;
      lock_.unlock();
    }
    ~Reading() {
      if (!lock_.owns_lock()) lock_.lock();
      fact_.reading_ = false;
      shared().is_read.notify_all();
    }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

   private:
    Cached& fact_;
    Lock& lock_;
  };

  Value value_;  ///< not modified while it is read
  Clock::time_point read_at_{};
  bool reading_ = false;
};

}  // namespace rdma_exporter::facts
