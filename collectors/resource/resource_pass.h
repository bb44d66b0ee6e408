// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <memory>

#include "collectors/resource/resource_detail.h"
#include "task/background_value.h"

namespace rdma_exporter::collectors {

/// Runs the passes of one device in the background, one at a time. Shared by the job and the pass in
/// progress, which may be stuck in the kernel after the job is gone. Thread-safe.
class ResourcePasses : public std::enable_shared_from_this<ResourcePasses> {
 public:
  using Clock = DumpGuard::Clock;

  /// `context` must outlive it and have a background; `device` must have a netlink index.
  ResourcePasses(const Context& context, const host::Device& device);

  /// Starts a pass if one is due at `now` and none is in progress.
  void start_if_due(ResourceCounts counts, Clock::time_point now);
  /// The result of the last pass that has ended; nullptr before that.
  std::shared_ptr<const DetailReport> latest() const { return report_.latest().value; }
  /// Waits for the first pass, at most for the given time.
  void wait_for_first(std::chrono::milliseconds at_most);

 private:
  ResourceDetail detail_;  ///< used only by the pass in progress
  task::BackgroundValue<DetailReport> report_;
};

}  // namespace rdma_exporter::collectors
