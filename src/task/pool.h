// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "task/background.h"

namespace rdma_exporter::task {

struct Owner;

/// Something a worker executes once.
class Work {
 public:
  virtual ~Work() = default;
  virtual void execute() = 0;  ///< an exception ends this work only and is logged
  /// The owner that this work is charged to. Null: no owner, and only the limit of the pool applies.
  virtual std::shared_ptr<Owner> owner() const { return nullptr; }
};

/// A device or an interface: the unit that may hang as a whole. Created and kept by the submitter, modified
/// only by the pool.
struct Owner {
  std::vector<std::shared_ptr<Work>> waiting;
  unsigned running = 0;
};

/// When a pool starts another worker.
enum class Growth {
  when_slow,  ///< in nudge(), if the queue does not move: handing work to another thread costs more than most
              ///< reads
  at_once,    ///< in submit(), if no worker is free: for work that usually blocks
};

/// Who takes submitted work first.
enum class Taker {
  another_worker,  ///< one that is free is woken
  this_worker,     ///< the caller, a worker that is about to be free; others are woken when nudge() finds it
                   ///< too slow. Workers that wait for the same locks in the kernel disturb each other.
};

struct PoolOptions {
  unsigned max_workers = 1;
  /// Maximum amount of waiting work while all `max_workers` are busy; offer() refuses more.
  std::size_t max_waiting = std::numeric_limits<std::size_t>::max();
  Growth growth = Growth::when_slow;
  unsigned kept_workers = 1;  ///< workers that stay even if idle for a minute
  /// A nudge that follows another one sooner than this does nothing.
  std::chrono::milliseconds nudge_interval{0};
  /// Whether a busy worker waits inside the kernel. If it is given, nudge() adds no more workers than there
  /// are processors and workers that wait: work that computes gains nothing from them.
  bool (*waits_in_kernel)(pid_t worker) = nullptr;
  /// A worker that takes longer for one piece of work counts as one that waits, even if a driver spins.
  std::chrono::milliseconds stuck_after{250};
};

/// Whether a thread of this process sleeps: it neither runs nor waits for a processor (proc(5),
/// /proc/PID/task/TID/stat). True if that cannot be read.
bool is_asleep(pid_t thread);

/// Pool options for work that takes longer than a scrape: few threads, and another one for each task that has
/// run for a second. Enough that a device whose firmware hangs does not keep the others from being read.
constexpr PoolOptions kBackgroundPool{.max_workers = 8, .nudge_interval = std::chrono::seconds(1)};

/// Threads for work that may hang inside the kernel or take long. At first one worker does everything. More
/// are added, up to the limit, if the queue does not move or moves so slowly that a scrape would wait for it:
/// a stuck worker is replaced, and the number of workers does not grow from scrape to scrape. Added workers
/// end after a while without work.
///
/// An owner gets only a few workers, and never one that owners without any would need: however many owners
/// hang, the others continue, as long as there are more workers than hanging owners.
///
/// Thread-safe. Threads are detached and share ownership of the state, so that a thread stuck in the kernel
/// does no harm when the process ends.
class Pool final : public Background {
 public:
  /// Maximum number of workers of one owner: enough for everything that is read from one device or interface.
  static constexpr unsigned kMaxPerOwner = 8;

  explicit Pool(const PoolOptions& options);
  ~Pool() override;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// Sets the number of owners. As many workers are reserved for owners that have none.
  void set_owners(std::size_t owners);

  /// Queues work, however much is already waiting. If no thread can be started it stays queued for a later
  /// nudge().
  void submit(std::span<const std::shared_ptr<Work>> work, Taker taker = Taker::another_worker);

  /// Queues a task, charged to `owner` (null: none), and returns an empty one; or returns the task if too
  /// much is waiting, no thread can be started, or the pool has ended. What a task holds is released on the
  /// thread that ran it.
  [[nodiscard]] std::function<void()> offer(std::function<void()> task,
                                            const std::shared_ptr<Owner>& owner = nullptr);

  /// Takes back work that no worker has begun. The caller drops it where that may block. Null if it has begun
  /// or is done.
  std::shared_ptr<Work> withdraw(const Work& work);

  /// To be called now and then while submitted work is not done: doubles the number of workers if the queue
  /// does not move, or would need many more calls at its present pace.
  void nudge();

  /// submit() and nudge() under the names of the Background interface.
  void start(std::function<void()> task) override;
  void tend() override { nudge(); }

  /// Whether an owner that has `of_owner` workers may get another one while `holders` owners have `held`
  /// workers in all.
  bool has_room(std::size_t of_owner, std::size_t held, std::size_t holders) const;

  struct Stats {
    unsigned workers;             ///< existing threads
    unsigned idle;                ///< threads that wait for work
    std::size_t waiting;          ///< work that no worker has begun
    std::uint64_t limit_reached;  ///< how often a limit prevented a worker that was needed
  };
  Stats stats() const;

  /// Drops queued work and waits for the workers to end. Returns false if some are still stuck at `deadline`.
  bool stop(std::chrono::steady_clock::time_point deadline);

  /// Executes all queued work, accepts no more, and waits for the workers, however long they take.
  void finish();

 private:
  struct State;
  void hand_over(std::unique_lock<std::mutex>& lock, Taker taker = Taker::another_worker);
  static void add_worker(const std::shared_ptr<State>& state);
  static void add_missing_workers(const std::shared_ptr<State>& state);
  static void work(const std::shared_ptr<State>& state);

  std::shared_ptr<State> state_;
};

}  // namespace rdma_exporter::task
