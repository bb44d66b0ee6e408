// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>

namespace rdma_exporter::scrape {

/// Something a worker executes once.
class Work {
 public:
  virtual ~Work() = default;
  virtual void execute() = 0;  ///< must not throw
};

/// Threads for reads that may hang inside the kernel. One worker does everything as long as work is quick: a
/// hand-over costs more than most reads. Only when the queue stands still are more workers added, up to the
/// limit, so a worker that is stuck is replaced and the count does not grow from scrape to scrape. Workers
/// that were added end after a while without work. Thread-safe. Threads are detached and share ownership of
/// the state: a thread that is stuck in the kernel when the process ends hurts nobody.
class WorkerPool {
 public:
  explicit WorkerPool(unsigned max_workers);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  void submit(std::span<const std::shared_ptr<Work>> work);

  /// Call now and then while submitted work is not done: doubles the workers when there is queued work and
  /// none was finished since the last call.
  void nudge();

  struct Stats {
    unsigned workers;             ///< threads that exist
    std::uint64_t limit_reached;  ///< times a worker was needed and the limit forbade it
  };
  Stats stats() const;

  /// Drops queued work and waits for the workers to end. False when some are still stuck at `deadline`.
  bool stop(std::chrono::steady_clock::time_point deadline);

 private:
  struct State;
  static void add_worker(const std::shared_ptr<State>& state);
  static void work(const std::shared_ptr<State>& state);

  std::shared_ptr<State> state_;
};

}  // namespace rdma_exporter::scrape
