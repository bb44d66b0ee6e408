// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/resource/resource_pass.h"

#include <exception>
#include <utility>

#include "log/caught.h"

namespace rdma_exporter::collectors {

ResourcePasses::ResourcePasses(const Context& context, const host::Device& device)
    : background_(*context.background), interval_(context.resource.interval), detail_(context, device) {}

void ResourcePasses::start_if_due(ResourceCounts counts, Clock::time_point now) {
  {
    const std::lock_guard lock(mutex_);
    if (running_) return background_.tend();
    if (now < next_) return;
    running_ = true;
    next_ = now + interval_;
  }
  background_.start([self = shared_from_this(), counts = std::move(counts)] { self->run(counts); });
}

void ResourcePasses::run(const ResourceCounts& counts) {
  std::shared_ptr<const DetailReport> report;
  try {
    report = detail_.pass(counts);
  } catch (const std::exception& error) {  // out of memory: the last report stays
    log::caught("resources were not dumped", error);
  }
  const std::lock_guard lock(mutex_);
  running_ = false;
  if (report) latest_ = std::move(report);
  ended_.notify_all();
}

std::shared_ptr<const DetailReport> ResourcePasses::latest() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

void ResourcePasses::wait_for_first(std::chrono::milliseconds at_most) {
  std::unique_lock lock(mutex_);
  ended_.wait_for(lock, at_most, [this] { return latest_ != nullptr || !running_; });
}

}  // namespace rdma_exporter::collectors
