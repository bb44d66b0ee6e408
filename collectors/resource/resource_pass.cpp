// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/resource/resource_pass.h"

#include <utility>

namespace rdma_exporter::collectors {

ResourcePasses::ResourcePasses(const Context& context, const host::Device& device)
    : detail_(context, device),
      report_(*context.background, task::Schedule(context.resource.interval), "resources were not dumped") {}

void ResourcePasses::start_if_due(ResourceCounts counts, Clock::time_point now) {
  report_.read_if_due(
      now, [self = shared_from_this(), counts = std::move(counts)] { return self->detail_.pass(counts); });
}

void ResourcePasses::wait_for_first(std::chrono::milliseconds at_most) {
  if (!latest()) report_.wait_until(Clock::now() + at_most);
}

}  // namespace rdma_exporter::collectors
