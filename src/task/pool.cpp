// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "task/pool.h"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "log/caught.h"
#include "task/schedule.h"

namespace rdma_exporter::task {
namespace {

constexpr std::chrono::seconds kIdleBeforeEnd{60};
// A queue that takes longer than this many nudges is too slow: a scrape nudges every 25 ms.
constexpr std::uint64_t kNudgesForAQueue = 10;

struct Call final : Work {
  explicit Call(std::function<void()> call) : task(std::move(call)) {}
  void execute() override { task(); }
  std::function<void()> task;
};

}  // namespace

struct Pool::State {
  explicit State(const PoolOptions& wanted) : options(wanted), max_workers(wanted.max_workers) {}

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
  void queue(const std::shared_ptr<Owner>& owner, std::shared_ptr<Work> work) {
    auto& queued = owner->waiting;
    if (queued.size() == queued.capacity()) queued.reserve(2 * queued.size() + 1);
    if (queued.empty()) line.push_back(owner);
    queued.push_back(std::move(work));
    ++waiting;
  }

  // Null where it does not wait.
  std::shared_ptr<Work> withdraw(const std::shared_ptr<Owner>& owner, const Work& work) {
    auto& queued = owner->waiting;
    const auto it =
        std::find_if(queued.begin(), queued.end(), [&](const auto& one) { return one.get() == &work; });
    if (it == queued.end()) return nullptr;
    std::shared_ptr<Work> withdrawn = std::move(*it);
    queued.erase(it);
    --waiting;
    if (queued.empty()) std::erase(line, owner);
    return withdrawn;
  }

  bool is_full() const {
    const std::size_t free = max_workers - std::min<std::size_t>(max_workers, running);
    return waiting >= free && waiting - free >= options.max_waiting;
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

  // A worker that executes something.
  struct Busy {
    pid_t thread;
    Clock::time_point since;
  };

  // How many workers there may be, by what those that exist do.
  unsigned most_workers() const {
    if (!options.waits_in_kernel) return max_workers;
    const Clock::time_point now = Clock::now();
    const auto asleep = std::count_if(busy.begin(), busy.end(), [&](const Busy& worker) {
      return now - worker.since > options.stuck_after || options.waits_in_kernel(worker.thread);
    });
    const unsigned processors = std::max(std::thread::hardware_concurrency(), 1U);
    return std::min(max_workers, processors + static_cast<unsigned>(asleep));
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
  const PoolOptions options;
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
  std::vector<Busy> busy;  // reserved for all workers
  Schedule nudges{options.nudge_interval};
  bool finishing = false;  // nothing more is taken
  bool stopping = false;   // and nothing more is begun
  bool refused = false;    // the last thread that was wanted; logged
};

bool is_asleep(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string line;
  std::getline(file, line);
  // "TID (name) STATE ...": the name may contain anything.
  const std::size_t name_end = line.rfind(") ");
  return name_end == std::string::npos || line[name_end + 2] != 'R';
}

Pool::Pool(const PoolOptions& options) : state_(std::make_shared<State>(options)) {}

Pool::~Pool() { stop(std::chrono::steady_clock::now()); }

void Pool::set_owners(std::size_t owners) {
  const std::lock_guard lock(state_->mutex);
  state_->owners = owners;
}

void Pool::submit(std::span<const std::shared_ptr<Work>> work, Taker taker) {
  std::unique_lock lock(state_->mutex);
  if (state_->finishing || state_->stopping || work.empty()) return;
  for (const std::shared_ptr<Work>& one : work) {
    std::shared_ptr<Owner> owner = one->owner();
    if (!owner) owner = state_->nobody;
    state_->queue(owner, one);
  }
  hand_over(lock, taker);
  // All workers busy: one of them will come, or nudge() adds one.
}

void Pool::start(std::function<void()> task) {
  auto work = std::make_shared<Call>(std::move(task));
  std::unique_lock lock(state_->mutex);
  if (state_->finishing || state_->stopping) return;
  state_->queue(state_->nobody, std::move(work));
  hand_over(lock);
}

std::function<void()> Pool::offer(std::function<void()> task, const std::shared_ptr<Owner>& owner) {
  std::unique_lock lock(state_->mutex);
  if (state_->finishing || state_->stopping || state_->is_full()) return task;
  if (state_->workers == 0) add_worker(state_);
  if (state_->workers == 0) return task;
  state_->queue(owner ? owner : state_->nobody, std::make_shared<Call>(std::move(task)));
  hand_over(lock);
  return {};
}

std::shared_ptr<Work> Pool::withdraw(const Work& work) {
  const std::lock_guard lock(state_->mutex);
  const std::shared_ptr<Owner> owner = work.owner();
  return state_->withdraw(owner ? owner : state_->nobody, work);
}

void Pool::nudge() {
  const std::lock_guard lock(state_->mutex);
  if (state_->options.nudge_interval.count() > 0 && !state_->nudges.take(Clock::now())) return;
  const std::uint64_t done = state_->finished - state_->finished_at_last_nudge;
  state_->finished_at_last_nudge = state_->finished;
  if (state_->stopping || state_->waiting <= done * kNudgesForAQueue) return;
  const std::size_t all_ready = state_->ready();
  const std::size_t ready = all_ready - std::min<std::size_t>(all_ready, state_->starting);
  if (all_ready > 0 && ready == 0) return;
  if (ready > 0 && state_->idle > 0) {
    state_->wake.notify_one();
  } else if (ready == 0 || state_->workers >= state_->max_workers) {
    ++state_->limit_reached;
  } else if (const unsigned most = state_->most_workers(); state_->workers < most) {
    // Twice as many: where one read is stuck others may be too, and what is well waits behind them.
    const std::size_t more =
        std::min<std::size_t>({std::max(state_->workers, 1U), ready, most - state_->workers});
    for (std::size_t i = 0; i < more; ++i) add_worker(state_);
  }
}

bool Pool::has_room(std::size_t of_owner, std::size_t held, std::size_t holders) const {
  const std::lock_guard lock(state_->mutex);
  return state_->has_room(of_owner, held, holders);
}

Pool::Stats Pool::stats() const {
  const std::lock_guard lock(state_->mutex);
  return {state_->workers, state_->idle, state_->waiting, state_->limit_reached};
}

bool Pool::stop(std::chrono::steady_clock::time_point deadline) {
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

void Pool::finish() {
  std::unique_lock lock(state_->mutex);
  state_->finishing = true;
  state_->wake.notify_all();
  state_->ended.wait(lock, [this] { return state_->workers == 0; });
}

// Unlocks.
void Pool::hand_over(std::unique_lock<std::mutex>& lock, Taker taker) {
  add_missing_workers(state_);
  const bool wake = state_->idle > 0 && taker == Taker::another_worker;
  lock.unlock();  // who is woken needs the mutex first of all
  if (wake) state_->wake.notify_one();
}

// With the mutex held.
void Pool::add_missing_workers(const std::shared_ptr<State>& state) {
  if (state->workers == 0) add_worker(state);
  if (state->options.growth != Growth::at_once) return;
  for (std::size_t ready = state->ready(); ready > state->idle + state->starting; --ready) {
    if (state->workers >= state->max_workers) return;
    add_worker(state);
  }
}

// With the mutex held.
void Pool::add_worker(const std::shared_ptr<State>& state) {
  try {
    state->busy.reserve(state->workers + 1);
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

void Pool::work(const std::shared_ptr<State>& state) {
  const pid_t self = ::gettid();
  std::unique_lock lock(state->mutex);
  --state->starting;
  while (!state->stopping) {
    const auto next = state->next();
    if (next == state->line.end()) {
      if (state->finishing) break;
      ++state->idle;
      const bool woken = state->wake.wait_for(lock, kIdleBeforeEnd, [&state] {
        return state->stopping || state->finishing || state->next() != state->line.end();
      });
      --state->idle;
      if (!woken && state->workers > state->options.kept_workers) break;
      continue;
    }
    const std::shared_ptr<Owner> owner = *next;
    std::shared_ptr<Work> work = state->begin(next);
    state->busy.push_back({self, Clock::now()});
    lock.unlock();
    try {
      work->execute();
    } catch (const std::exception& error) {
      log::caught("a worker abandoned its task", error);
    }
    work.reset();  // may be the last owner of a device's files: not with the mutex held
    lock.lock();
    std::erase_if(state->busy, [self](const State::Busy& worker) { return worker.thread == self; });
    state->end(*owner);
  }
  --state->workers;
  state->ended.notify_all();
}

}  // namespace rdma_exporter::task
