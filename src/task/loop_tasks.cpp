// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "task/loop_tasks.h"

#include <condition_variable>
#include <mutex>
#include <new>
#include <utility>

#include "asio/asio.h"
#include "log/caught.h"

namespace rdma_exporter::task {
namespace {
constexpr std::chrono::milliseconds kPauseWithoutMemory{100};
}  // namespace

struct LoopTasks::State {
  explicit State(asio::io_context& loop) : io(loop) {}

  // Calls `step` until it finds the memory that it needs, or nobody wants it any more.
  template <typename Step>
  void persist(const Step& step) {
    for (;;) {
      try {
        return step();
      } catch (const std::bad_alloc& error) {
        log::caught("out of memory, retrying", error);
      }
      std::unique_lock lock(mutex);
      if (wake.wait_for(lock, kPauseWithoutMemory, [this] { return closed; })) return;
    }
  }

  asio::io_context& io;  // not to be touched once `closed` is set
  std::mutex mutex;
  std::condition_variable wake;  // closed
  bool closed = false;
};

LoopTasks::LoopTasks(asio::io_context& io, unsigned max_running, std::size_t max_waiting)
    : state_(std::make_shared<State>(io)),
      pool_({.max_workers = max_running,
             .max_waiting = max_waiting,
             .growth = Growth::at_once,
             .kept_workers = 0}) {}

LoopTasks::~LoopTasks() { stop(std::chrono::steady_clock::now()); }

bool LoopTasks::stop(std::chrono::steady_clock::time_point deadline) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->closed = true;
  }
  state_->wake.notify_all();
  return pool_.stop(deadline);
}

bool LoopTasks::submit(Job job) {
  return !pool_.offer([state = state_, job = std::move(job)]() mutable { execute(*state, job); });
}

void LoopTasks::execute(State& state, Job& job) {
  Finish finish;
  state.persist([&] { finish = job(); });
  job = {};
  state.persist([&] {
    // With the mutex held, because that is what keeps the event loop alive.
    const std::lock_guard lock(state.mutex);
    if (!state.closed && finish) asio::post(state.io, finish);
  });
}

}  // namespace rdma_exporter::task
