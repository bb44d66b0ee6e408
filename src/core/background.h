// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <functional>

namespace rdma_exporter::core {

/// Runs work that takes too long for a scrape, on threads of its own. A job starts a task when its result is
/// due and serves the last result meanwhile: what nobody scrapes is not read. Thread-safe.
class Background {
 public:
  virtual ~Background() = default;
  /// Queues `task`, which owns what it uses: it may run after the job that started it is gone, or never, when
  /// the process ends. It may block inside the kernel; it must not throw. Who starts tasks has at most one
  /// that has not ended, which bounds the queue.
  virtual void start(std::function<void()> task) = 0;
  /// Call now and then while a started task has not ended: a thread that is stuck in the kernel is replaced.
  virtual void tend() = 0;
};

}  // namespace rdma_exporter::core
