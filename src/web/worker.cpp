// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "web/worker.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "asio/asio.h"
#include "log/caught.h"

namespace rdma_exporter::web {
namespace {
constexpr std::chrono::seconds kIdleBeforeEnd{60};
constexpr std::chrono::milliseconds kPauseWithoutMemory{100};
}  // namespace

struct Worker::State {
  State(asio::io_context& loop, std::size_t most) : io(loop), most_queued(most) {}

  asio::io_context& io;  // not to be touched once `closed` is set
  const std::size_t most_queued;
  std::mutex mutex;
  std::condition_variable wake;  // a job was queued, or closed
  std::deque<Job> queue;
  bool running = false;  // the thread exists
  bool closed = false;

  // With the mutex held. Calls `step` until it finds the memory that it needs, or nobody wants it any more.
  template <typename Step>
  void persist(std::unique_lock<std::mutex>& lock, const Step& step) {
    while (!closed) {
      try {
        return step();
      } catch (const std::bad_alloc& error) {
        if (!lock.owns_lock()) lock.lock();
        log::caught("out of memory, trying again", error);
        wake.wait_for(lock, kPauseWithoutMemory, [this] { return closed; });
      }
    }
  }
};

Worker::Worker(asio::io_context& io, std::size_t most_queued)
    : state_(std::make_shared<State>(io, most_queued)) {}

Worker::~Worker() {
  std::deque<Job> dropped;
  const std::lock_guard lock(state_->mutex);
  state_->closed = true;
  state_->queue.swap(dropped);
  state_->wake.notify_one();
}

bool Worker::submit(Job job) {
  const std::lock_guard lock(state_->mutex);
  if (state_->queue.size() >= state_->most_queued) return false;
  state_->queue.push_back(std::move(job));
  if (state_->running) {
    state_->wake.notify_one();
    return true;
  }
  try {
    std::thread([state = state_] { work(state); }).detach();
    state_->running = true;
    return true;
  } catch (const std::exception& error) {
    log::caught("cannot start a thread", error);
    state_->queue.pop_back();
    return false;
  }
}

void Worker::work(const std::shared_ptr<State>& state) {
  std::unique_lock lock(state->mutex);
  while (!state->closed) {
    if (state->queue.empty()) {
      const bool woken = state->wake.wait_for(lock, kIdleBeforeEnd,
                                              [&state] { return state->closed || !state->queue.empty(); });
      if (!woken) break;
      continue;
    }
    Job job = std::move(state->queue.front());
    state->queue.pop_front();
    Finish finish;
    state->persist(lock, [&] {
      lock.unlock();
      finish = job();
      lock.lock();
    });
    lock.unlock();
    job = {};
    lock.lock();
    // With the mutex held, because that is what keeps the event loop alive.
    state->persist(lock, [&] { asio::post(state->io, finish); });
    lock.unlock();
    finish = {};
    lock.lock();
  }
  state->running = false;
}

}  // namespace rdma_exporter::web
