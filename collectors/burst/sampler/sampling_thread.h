// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "collectors/burst/window.h"

namespace rdma_exporter::collectors {

/// A thread that runs turns at deadlines while somebody scrapes, and ends kKept after the last scrape. A turn
/// may be stuck in the kernel for ever: it owns what it uses, and nobody has to wait for it. Thread-safe.
class SamplingThread : public std::enable_shared_from_this<SamplingThread> {
 public:
  /// Runs a turn and returns when the next one is. `first`: the first turn of a thread.
  using Turn = std::function<BurstClock::time_point(bool first)>;

  SamplingThread(Turn turn, std::shared_ptr<std::atomic<unsigned>> threads)
      : turn_(std::move(turn)), threads_(std::move(threads)) {}

  /// Notes a scrape: starts the thread if none runs. False if no thread can be started, or kMaxThreads are
  /// running.
  bool keep(BurstClock::time_point now);
  /// Lets it end after its turn and starts no more.
  void stop();
  /// True if it has ended by the deadline.
  bool wait(BurstClock::time_point deadline);

  static constexpr std::chrono::minutes kKept{2};
  static constexpr unsigned kMaxThreads = 64;

 private:
  void run();

  const Turn turn_;
  const std::shared_ptr<std::atomic<unsigned>> threads_;  ///< number of running threads
  std::mutex mutex_;
  std::condition_variable changed_;
  bool running_ = false;
  bool stopped_ = false;
  BurstClock::time_point keep_until_{};
};

/// The sampling threads of a collector. Thread-safe.
class SamplingThreads {
 public:
  /// The caller stops the thread when it is no longer wanted.
  std::shared_ptr<SamplingThread> make(SamplingThread::Turn turn);
  /// Stops all threads. True if they have ended by the deadline.
  bool stop(BurstClock::time_point deadline);
  std::shared_ptr<const std::atomic<unsigned>> running() const { return running_; }

 private:
  const std::shared_ptr<std::atomic<unsigned>> running_ = std::make_shared<std::atomic<unsigned>>(0);
  std::mutex mutex_;
  std::vector<std::weak_ptr<SamplingThread>> threads_;  ///< a running thread keeps itself alive
};

}  // namespace rdma_exporter::collectors
