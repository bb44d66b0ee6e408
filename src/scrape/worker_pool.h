// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace rdma_exporter::scrape {

struct Owner;

/// Something a worker executes once.
class Work {
 public:
  virtual ~Work() = default;
  virtual void execute() = 0;  ///< an exception ends this work, is logged, and touches nothing else
  /// On whose account it runs; null: on nobody's, and no cap but the pool's limit holds.
  virtual std::shared_ptr<Owner> owner() const { return nullptr; }
};

/// A device or an interface: what may hang as a whole. Made and kept by who submits work, touched by the pool
/// alone.
struct Owner {
  std::vector<std::shared_ptr<Work>> waiting;
  unsigned running = 0;
};

/// Threads for reads that may hang inside the kernel. One worker does everything as long as work is quick: a
/// hand-over costs more than most reads. More are added, up to the limit, when the queue stands still or
/// moves so slowly that a scrape would wait for it: a worker that is stuck is replaced, and the count does
/// not grow from scrape to scrape. Workers that were added end after a while without work.
///
/// An owner holds few workers at most, and never one of those that owners without any would need: however
/// many owners hang, the others go on, as long as there are more workers than owners that hang.
///
/// Thread-safe. Threads are detached and share ownership of the state: a thread that is stuck in the kernel
/// when the process ends hurts nobody.
class WorkerPool {
 public:
  /// Enough for all that is read of one device or interface.
  static constexpr unsigned kMaxPerOwner = 8;

  explicit WorkerPool(unsigned max_workers);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// How many owners there are: as many workers are kept for those that hold none.
  void set_owners(std::size_t owners);

  void submit(std::span<const std::shared_ptr<Work>> work);

  /// Takes back what no worker has begun. The caller drops it where that may block. Null: begun, or done.
  std::shared_ptr<Work> withdraw(const Work& work);

  /// Call now and then while submitted work is not done: doubles the workers when the queue stands still or
  /// would take many more calls at its present pace.
  void nudge();

  /// Whether an owner that holds `of_owner` workers may have another one while `held` are held by `holders`
  /// owners in all.
  bool has_room(std::size_t of_owner, std::size_t held, std::size_t holders) const;

  struct Stats {
    unsigned workers;             ///< threads that exist
    std::size_t waiting;          ///< work that no worker has begun
    std::uint64_t limit_reached;  ///< times a worker was needed and a limit forbade it
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
