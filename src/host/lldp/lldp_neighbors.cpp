// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/lldp/lldp_neighbors.h"

#include <algorithm>
#include <utility>

namespace rdma_exporter::host {

void LldpNeighbors::take(std::span<const std::byte> frame, Clock::time_point heard, Clock::time_point now) {
  ++frames_;
  auto neighbor = parse_lldp(frame);
  if (!neighbor) {
    ++malformed_;
    return;
  }
  std::erase_if(known_, [&](const Known& known) { return known.neighbor.is_same(*neighbor); });
  expire(now);
  Known added{std::move(*neighbor), heard};
  if (added.expires() <= now) return;
  if (known_.size() == kMax) {
    ++evicted_;
    known_.erase(std::min_element(known_.begin(), known_.end(),
                                  [](const Known& a, const Known& b) { return a.expires() < b.expires(); }));
  }
  known_.push_back(std::move(added));
}

void LldpNeighbors::expire(Clock::time_point now) {
  std::erase_if(known_, [&](const Known& known) { return known.expires() <= now; });
}

}  // namespace rdma_exporter::host
