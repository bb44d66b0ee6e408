// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/system/background_pool.h"

#include <memory>
#include <utility>

namespace rdma_exporter::app {
namespace {

class Task final : public scrape::Work {
 public:
  explicit Task(std::function<void()> task) : task_(std::move(task)) {}
  void execute() override { task_(); }

 private:
  std::function<void()> task_;
};

// A task that takes longer is slow or stuck; either way another thread does no harm.
constexpr std::chrono::seconds kStuckAfter{1};

}  // namespace

void BackgroundPool::start(std::function<void()> task) {
  const std::shared_ptr<scrape::Work> work = std::make_shared<Task>(std::move(task));
  pool_.submit({&work, 1});
}

void BackgroundPool::tend() {
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (now - tended_ < kStuckAfter) return;
  tended_ = now;
  pool_.nudge();
}

}  // namespace rdma_exporter::app
