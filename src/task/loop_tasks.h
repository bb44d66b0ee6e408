// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

#include "task/pool.h"

namespace boost::asio {
class io_context;
}

namespace rdma_exporter::task {

/// Runs work that takes long (hashing a password) or may hang (a file system) beside an event loop, and then
/// its continuation on the loop. Its threads exist from the first job until a minute after the last one; a
/// thread that hangs does not keep the process from ending. Used on the loop's thread.
class LoopTasks {
 public:
  /// The continuation. Called on the loop's thread, but not after the LoopTasks is gone.
  using Finish = std::function<void()>;
  /// The work. Called on another thread. If it runs out of memory it is called again after a pause; it must
  /// not throw anything else.
  using Job = std::function<Finish()>;

  /// `io` outlives it. At most `max_running` jobs run at a time; `max_waiting` more are queued in order.
  LoopTasks(boost::asio::io_context& io, unsigned max_running, std::size_t max_waiting);
  ~LoopTasks();  ///< drops waiting jobs; does not wait for running ones
  LoopTasks(const LoopTasks&) = delete;
  LoopTasks& operator=(const LoopTasks&) = delete;

  /// Returns false if the queue is full or no thread can be started; the job does not run then.
  bool submit(Job job);

  /// Drops waiting jobs and runs no more continuations. Returns false if a job still runs at `deadline`.
  bool stop(std::chrono::steady_clock::time_point deadline);

 private:
  struct State;
  static void execute(State& state, Job& job);

  std::shared_ptr<State> state_;
  Pool pool_;
};

}  // namespace rdma_exporter::task
