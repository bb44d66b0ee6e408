// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "task/pool.h"

namespace rdma_exporter::probe {

/// Threads for verbs calls that block: moving a queue pair to RTR waits for ARP, a second or more, and
/// firmware that hangs keeps its caller. Each device is an owner with a limited share of the threads, so that
/// one that blocks leaves threads to the others. Threads are started when they are needed and stay until the
/// end: when the thread that opened a context has ended, the kernel no longer knows to which process it
/// belongs.
class Workers {
 public:
  using Owner = std::shared_ptr<task::Owner>;
  static Owner new_owner() { return std::make_shared<task::Owner>(); }
  static constexpr unsigned kThreads = 48;

  explicit Workers(unsigned threads = kThreads)
      : pool_({.max_workers = threads, .growth = task::Growth::at_once, .kept_workers = threads}) {}
  ~Workers() { stop(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Each of so many owners, and the tasks without an owner, can get a thread at any time.
  void set_owners(std::size_t owners) { pool_.set_owners(owners + 1); }

  /// Any thread. After stop() the caller runs the task: queue pairs still have to be destroyed.
  void post(std::function<void()> task, const Owner& owner = nullptr) {
    if (const auto refused = pool_.offer(std::move(task), owner)) refused();
  }
  /// Runs the queued tasks, then ends the threads. May be called again.
  void stop() { pool_.finish(); }

 private:
  task::Pool pool_;
};

}  // namespace rdma_exporter::probe
