// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "net/worker.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "asio/asio.h"
#include "log/log.h"

namespace rdma_exporter::net {
namespace {
constexpr std::chrono::seconds kIdleBeforeEnd{60};
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
  } catch (const std::system_error& error) {
    log::warn("cannot start a thread", {{"error", error.what()}});
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
    lock.unlock();
    Finish finish = job();
    job = {};
    lock.lock();
    // With the mutex held, because that is what keeps the event loop alive.
    if (!state->closed) asio::post(state->io, std::move(finish));
  }
  state->running = false;
}

}  // namespace rdma_exporter::net
