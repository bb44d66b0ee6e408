// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <functional>

namespace rdma_exporter::task {

/// Runs work that takes too long for a scrape on separate threads. A job starts a task when its result is due
/// and meanwhile serves the last result, so that nothing is read unless somebody scrapes it. Thread-safe.
class Background {
 public:
  virtual ~Background() = default;
  /// Queues `task`. It must own what it uses, because it may run after the job that started it is gone, or
  /// never if the process ends. It may block inside the kernel; it must not throw. Each caller has at most
  /// one unfinished task, which bounds the queue.
  virtual void start(std::function<void()> task) = 0;
  /// To be called now and then while a started task has not ended, so that a thread stuck in the kernel is
  /// replaced.
  virtual void tend() = 0;
};

}  // namespace rdma_exporter::task
