// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "collectors/resource/resource_detail.h"
#include "core/background.h"

namespace rdma_exporter::collectors {

/// Runs the passes of one device in the background, one at a time. Owned jointly by the job and the pass that
/// is going on, which may be stuck in the kernel when the job is gone. Thread-safe.
class ResourcePasses : public std::enable_shared_from_this<ResourcePasses> {
 public:
  using Clock = DumpGuard::Clock;

  /// `context` outlives it and has a background; netlink knows `device`.
  ResourcePasses(const Context& context, const host::Device& device);

  /// Starts a pass when one is due at `now` and none is going on.
  void start_if_due(ResourceCounts counts, Clock::time_point now);
  /// What the last pass that has ended left; nullptr before.
  std::shared_ptr<const DetailReport> latest() const;
  /// Waits for the first one, at most so long.
  void wait_for_first(std::chrono::milliseconds at_most);

 private:
  void run(const ResourceCounts& counts);

  core::Background& background_;
  const std::chrono::seconds interval_;
  ResourceDetail detail_;  ///< used by the pass that is going on only
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  bool running_ = false;
  Clock::time_point next_;
  std::shared_ptr<const DetailReport> latest_;
};

}  // namespace rdma_exporter::collectors
