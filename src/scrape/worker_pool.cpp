// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "scrape/worker_pool.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "log/caught.h"

namespace rdma_exporter::scrape {
namespace {

constexpr std::chrono::seconds kIdleBeforeEnd{60};
// A queue that takes longer than this many nudges is too slow: a scrape nudges every 25 ms.
constexpr std::uint64_t kNudgesForAQueue = 10;

}  // namespace

struct WorkerPool::State {
  explicit State(unsigned max) : max_workers(max) {}

  bool has_room(std::size_t of_owner, std::size_t held, std::size_t held_by) const {
    if (held >= max_workers) return false;
    if (of_owner == 0) return true;
    return of_owner < kMaxPerOwner && max_workers - held > owners - std::min(owners, held_by);
  }
  bool has_room(const std::shared_ptr<Owner>& owner) const {
    return owner == nobody || has_room(owner->running, running, holders);
  }

  using Line = std::deque<std::shared_ptr<Owner>>;

  // Whose work is next: of an owner that holds no worker, or else of the one that holds the fewest. With one
  // worker that is one owner after the other.
  Line::iterator next() {
    auto best = line.end();
    for (auto it = line.begin(); it != line.end(); ++it) {
      if ((*it)->running == 0) return has_room(*it) ? it : line.end();
      if (has_room(*it) && (best == line.end() || (*it)->running < (*best)->running)) best = it;
    }
    return best;
  }

  // Queued work that could be begun if there were a worker.
  std::size_t ready() const {
    std::size_t count = 0;
    for (const auto& owner : line) {
      if (!has_room(owner)) continue;
      const std::size_t most = owner == nobody ? max_workers : kMaxPerOwner;
      count +=
          std::min<std::size_t>(owner->waiting.size(), most - std::min<std::size_t>(most, owner->running));
    }
    return count;
  }

  // Whole or not at all: each line that may find no memory leaves everything as it was.
  void queue(const std::shared_ptr<Owner>& owner, const std::shared_ptr<Work>& work) {
    auto& queued = owner->waiting;
    if (queued.size() == queued.capacity()) queued.reserve(2 * queued.size() + 1);
    if (queued.empty()) line.push_back(owner);
    queued.push_back(work);
    ++waiting;
  }

  std::shared_ptr<Work> begin(const Line::iterator& at) {
    const std::shared_ptr<Owner>& owner = *at;
    std::shared_ptr<Work> work = std::move(owner->waiting.front());
    owner->waiting.erase(owner->waiting.begin());
    --waiting;
    ++running;
    if (++owner->running == 1) ++holders;
    if (owner->waiting.empty()) line.erase(at);
    return work;
  }

  void end(Owner& owner) {
    ++finished;
    --running;
    if (--owner.running == 0) --holders;
  }

  mutable std::mutex mutex;
  std::condition_variable wake;   // work was queued, or stop
  std::condition_variable ended;  // a worker ended
  Line line;                      // owners whose work waits
  const std::shared_ptr<Owner> nobody = std::make_shared<Owner>();
  const unsigned max_workers;
  std::size_t owners = 0;
  std::size_t waiting = 0;
  std::size_t running = 0;
  std::size_t holders = 0;  // owners of which work is running
  unsigned workers = 0;
  unsigned idle = 0;
  unsigned starting = 0;  // threads that were made and have not got so far as to look for work
  std::uint64_t finished = 0;
  std::uint64_t finished_at_last_nudge = 0;
  std::uint64_t limit_reached = 0;
  bool stopping = false;
  bool refused = false;  // the last thread that was wanted; logged
};

WorkerPool::WorkerPool(unsigned max_workers) : state_(std::make_shared<State>(max_workers)) {}

WorkerPool::~WorkerPool() { stop(std::chrono::steady_clock::now()); }

void WorkerPool::set_owners(std::size_t owners) {
  const std::lock_guard lock(state_->mutex);
  state_->owners = owners;
}

void WorkerPool::submit(std::span<const std::shared_ptr<Work>> work) {
  std::unique_lock lock(state_->mutex);
  if (state_->stopping || work.empty()) return;
  for (const std::shared_ptr<Work>& one : work) {
    std::shared_ptr<Owner> owner = one->owner();
    if (!owner) owner = state_->nobody;
    state_->queue(owner, one);
  }
  if (state_->workers == 0) add_worker(state_);
  const bool wake = state_->idle > 0;
  lock.unlock();  // who is woken needs the mutex first of all
  if (wake) state_->wake.notify_one();
  // All workers busy: one of them will come, or nudge() adds one.
}

std::shared_ptr<Work> WorkerPool::withdraw(const Work& work) {
  const std::lock_guard lock(state_->mutex);
  std::shared_ptr<Owner> owner = work.owner();
  if (!owner) owner = state_->nobody;
  auto& waiting = owner->waiting;
  const auto it =
      std::find_if(waiting.begin(), waiting.end(), [&](const auto& one) { return one.get() == &work; });
  if (it == waiting.end()) return nullptr;
  std::shared_ptr<Work> withdrawn = std::move(*it);
  waiting.erase(it);
  --state_->waiting;
  if (waiting.empty()) std::erase(state_->line, owner);
  return withdrawn;
}

void WorkerPool::nudge() {
  const std::lock_guard lock(state_->mutex);
  const std::uint64_t done = state_->finished - state_->finished_at_last_nudge;
  state_->finished_at_last_nudge = state_->finished;
  if (state_->stopping || state_->waiting <= done * kNudgesForAQueue) return;
  const std::size_t all_ready = state_->ready();
  const std::size_t ready = all_ready - std::min<std::size_t>(all_ready, state_->starting);
  if (all_ready > 0 && ready == 0) return;
  if (ready > 0 && state_->idle > 0) {
    state_->wake.notify_one();
  } else if (ready > 0 && state_->workers < state_->max_workers) {
    // Twice as many: where one read is stuck others may be too, and what is well waits behind them.
    const std::size_t more =
        std::min<std::size_t>({std::max(state_->workers, 1U), ready, state_->max_workers - state_->workers});
    for (std::size_t i = 0; i < more; ++i) add_worker(state_);
  } else {
    ++state_->limit_reached;
  }
}

bool WorkerPool::has_room(std::size_t of_owner, std::size_t held, std::size_t holders) const {
  const std::lock_guard lock(state_->mutex);
  return state_->has_room(of_owner, held, holders);
}

WorkerPool::Stats WorkerPool::stats() const {
  const std::lock_guard lock(state_->mutex);
  return {state_->workers, state_->waiting, state_->limit_reached};
}

bool WorkerPool::stop(std::chrono::steady_clock::time_point deadline) {
  std::vector<std::vector<std::shared_ptr<Work>>> dropped;  // after the lock: files may be closed
  std::unique_lock lock(state_->mutex);
  state_->stopping = true;
  for (const auto& owner : state_->line) dropped.push_back(std::exchange(owner->waiting, {}));
  state_->line.clear();
  state_->waiting = 0;
  state_->wake.notify_all();
  const bool all_ended = state_->ended.wait_until(lock, deadline, [this] { return state_->workers == 0; });
  lock.unlock();
  return all_ended;
}

// With the mutex held.
void WorkerPool::add_worker(const std::shared_ptr<State>& state) {
  try {
    std::thread([state] { work(state); }).detach();
    ++state->workers;
    ++state->starting;
    state->refused = false;
  } catch (const std::exception& error) {
    // No thread to be had (limits of the service, EAGAIN): what is queued waits or runs into its deadline.
    if (!std::exchange(state->refused, true)) log::caught("cannot start a worker thread", error);
    ++state->limit_reached;
  }
}

void WorkerPool::work(const std::shared_ptr<State>& state) {
  std::unique_lock lock(state->mutex);
  --state->starting;
  while (!state->stopping) {
    const auto next = state->next();
    if (next == state->line.end()) {
      ++state->idle;
      const bool woken = state->wake.wait_for(
          lock, kIdleBeforeEnd, [&state] { return state->stopping || state->next() != state->line.end(); });
      --state->idle;
      if (!woken && state->workers > 1) break;
      continue;
    }
    const std::shared_ptr<Owner> owner = *next;
    std::shared_ptr<Work> work = state->begin(next);
    lock.unlock();
    try {
      work->execute();
    } catch (const std::exception& error) {
      log::caught("a worker gave up what it did", error);
    }
    work.reset();  // may be the last owner of a device's files: not with the mutex held
    lock.lock();
    state->end(*owner);
  }
  --state->workers;
  state->ended.notify_all();
}

}  // namespace rdma_exporter::scrape
