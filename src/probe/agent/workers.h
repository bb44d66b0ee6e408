// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "task/pool.h"

namespace rdma_exporter::probe {

/// Threads for verbs calls that block: a queue pair's way to RTR waits for ARP, a second and more, and a
/// firmware that hangs keeps its caller. Each device has lines of its own, so that one that blocks leaves
/// threads to the others. Threads are started when they are needed and stay until the end: the kernel forgets
/// whose a context is when the thread that opened it has gone.
class Workers {
 public:
  /// What is charged together: its tasks hold a part of the threads at most.
  using Line = std::shared_ptr<task::Owner>;
  static Line new_line() { return std::make_shared<task::Owner>(); }
  static constexpr unsigned kThreads = 48;
  /// Of one line at a time, at most.
  static constexpr unsigned kMostOfALine = task::Pool::kMaxPerOwner;

  explicit Workers(unsigned threads = kThreads)
      : pool_({.max_workers = threads, .growth = task::Growth::at_once, .kept_workers = threads}) {}
  ~Workers() { stop(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// So many lines that have no thread can get one at any time, beside the tasks without a line.
  void set_lines(std::size_t lines) { pool_.set_owners(lines + 1); }

  /// Any thread. After stop() the task is run by the caller: what comes late still has to be given back.
  void post(std::function<void()> task, const Line& line = nullptr) {
    if (const auto refused = pool_.offer(std::move(task), line)) refused();
  }
  /// Runs the queued tasks, then ends the threads. May be called again.
  void stop() { pool_.finish(); }

 private:
  task::Pool pool_;
};

}  // namespace rdma_exporter::probe
