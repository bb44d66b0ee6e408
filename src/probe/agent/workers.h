// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace rdma_exporter::probe {

/// Threads for verbs calls that block: a queue pair's way to RTR waits for ARP, a second and more, and a
/// firmware that hangs keeps its caller. Their number bounds how many queue pairs are set up at once.
class Workers {
 public:
  explicit Workers(std::size_t threads);
  ~Workers() { stop(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Any thread. After stop() the task is run by the caller: what comes late still has to be given back.
  void post(std::function<void()> task);
  /// Runs what is queued, then ends the threads. May be called once more than needed.
  void stop();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace rdma_exporter::probe
