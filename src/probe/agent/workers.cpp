// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/agent/workers.h"

#include <utility>

namespace rdma_exporter::probe {

Workers::Workers(std::size_t threads) {
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
}

void Workers::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.join();
}

void Workers::post(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    if (!stopping_) {
      tasks_.push_back(std::move(task));
      wake_.notify_one();
      return;
    }
  }
  task();
}

void Workers::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    {
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
    }  // what the task holds goes before the lock is taken again
    lock.lock();
  }
}

}  // namespace rdma_exporter::probe
