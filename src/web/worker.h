// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace boost::asio {
class io_context;
}

namespace rdma_exporter::web {

/// One thread beside the io thread, for what takes long (a password's hash) or may hang (a file system). It
/// exists from the first job on, until a minute after the last. Like the workers that read devices it is
/// detached and owns its state: one that hangs keeps nobody from ending.
class Worker {
 public:
  /// Called on the io thread.
  using Finish = std::function<void()>;
  /// Called on the worker's thread; again after a pause when it finds no memory, and must throw nothing else.
  /// What it returns is called next, unless the Worker is gone.
  using Job = std::function<Finish()>;

  /// `io` outlives the Worker. `most_queued`: jobs that wait, besides the one that runs.
  Worker(boost::asio::io_context& io, std::size_t most_queued);
  ~Worker();  ///< drops what waits; does not wait for what runs
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// False when the queue is full or no thread can be had: the job is not run then. Io thread.
  bool submit(Job job);

 private:
  struct State;
  static void work(const std::shared_ptr<State>& state);

  std::shared_ptr<State> state_;
};

}  // namespace rdma_exporter::web
