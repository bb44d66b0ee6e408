// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "scrape/worker_pool.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>

#include "log/log.h"

namespace rdma_exporter::scrape {
namespace {
constexpr std::chrono::seconds kIdleBeforeEnd{60};
}  // namespace

struct WorkerPool::State {
  explicit State(unsigned max) : max_workers(max) {}

  mutable std::mutex mutex;
  std::condition_variable wake;   // work was queued, or stop
  std::condition_variable ended;  // a worker ended
  std::deque<std::shared_ptr<Work>> queue;
  const unsigned max_workers;
  unsigned workers = 0;
  unsigned idle = 0;
  std::uint64_t finished = 0;
  std::uint64_t finished_at_last_nudge = 0;
  std::uint64_t limit_reached = 0;
  bool stopping = false;
};

WorkerPool::WorkerPool(unsigned max_workers) : state_(std::make_shared<State>(max_workers)) {}

WorkerPool::~WorkerPool() { stop(std::chrono::steady_clock::now()); }

void WorkerPool::submit(std::span<const std::shared_ptr<Work>> work) {
  std::unique_lock lock(state_->mutex);
  if (state_->stopping || work.empty()) return;
  state_->queue.insert(state_->queue.end(), work.begin(), work.end());
  if (state_->workers == 0) add_worker(state_);
  const bool wake = state_->idle > 0;
  lock.unlock();  // who is woken needs the mutex first of all
  if (wake) state_->wake.notify_one();
  // All workers busy: one of them will come, or nudge() adds one.
}

void WorkerPool::nudge() {
  const std::lock_guard lock(state_->mutex);
  const bool stands_still = state_->finished == state_->finished_at_last_nudge;
  state_->finished_at_last_nudge = state_->finished;
  if (state_->queue.empty() || !stands_still || state_->stopping) return;
  if (state_->idle > 0) {
    state_->wake.notify_one();
  } else if (state_->workers < state_->max_workers) {
    // Twice as many: where one read is stuck others may be too, and what is well waits behind them.
    const std::size_t more =
        std::min<std::size_t>({state_->workers, state_->queue.size(), state_->max_workers - state_->workers});
    for (std::size_t i = 0; i < more; ++i) add_worker(state_);
  } else {
    ++state_->limit_reached;
  }
}

WorkerPool::Stats WorkerPool::stats() const {
  const std::lock_guard lock(state_->mutex);
  return {state_->workers, state_->limit_reached};
}

bool WorkerPool::stop(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(state_->mutex);
  state_->stopping = true;
  state_->queue.clear();
  state_->wake.notify_all();
  return state_->ended.wait_until(lock, deadline, [this] { return state_->workers == 0; });
}

// With the mutex held.
void WorkerPool::add_worker(const std::shared_ptr<State>& state) {
  try {
    std::thread([state] { work(state); }).detach();
    ++state->workers;
  } catch (const std::system_error& error) {
    // No thread to be had (limits of the service, EAGAIN): what is queued waits or runs into its deadline.
    log::warn("cannot start a worker thread", {{"error", error.what()}});
    ++state->limit_reached;
  }
}

void WorkerPool::work(const std::shared_ptr<State>& state) {
  std::unique_lock lock(state->mutex);
  while (!state->stopping) {
    if (state->queue.empty()) {
      ++state->idle;
      const bool woken = state->wake.wait_for(lock, kIdleBeforeEnd,
                                              [&state] { return state->stopping || !state->queue.empty(); });
      --state->idle;
      if (!woken && state->workers > 1) break;
      continue;
    }
    std::shared_ptr<Work> work = std::move(state->queue.front());
    state->queue.pop_front();
    lock.unlock();
    work->execute();
    work.reset();  // may be the last owner of a device's files: not with the mutex held
    lock.lock();
    ++state->finished;
  }
  --state->workers;
  state->ended.notify_all();
}

}  // namespace rdma_exporter::scrape
