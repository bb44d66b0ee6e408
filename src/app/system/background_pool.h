// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <functional>
#include <mutex>

#include "core/background.h"
#include "scrape/worker_pool.h"

namespace rdma_exporter::app {

/// core::Background on a few threads that scrapes do not use. One does everything while nothing is stuck.
class BackgroundPool final : public core::Background {
 public:
  /// Enough that a device whose firmware hangs does not keep the others from being read.
  static constexpr unsigned kMaxThreads = 8;

  void start(std::function<void()> task) override;
  void tend() override;

  /// See scrape::WorkerPool::stop().
  bool stop(std::chrono::steady_clock::time_point deadline) { return pool_.stop(deadline); }

 private:
  scrape::WorkerPool pool_{kMaxThreads};
  std::mutex mutex_;
  std::chrono::steady_clock::time_point tended_;
};

}  // namespace rdma_exporter::app
