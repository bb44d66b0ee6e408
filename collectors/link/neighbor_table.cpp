// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/link/neighbor_table.h"

#include <utility>

namespace rdma_exporter::collectors {

core::Result<host::LldpNeighbors> NeighborTable::look(std::uint32_t interface, Clock::time_point now) {
  std::unique_lock lock(mutex_);
  const auto socket = frames(now);
  if (!socket) return tl::unexpected(socket.error());
  if (!tables_.contains(interface)) {
    // Other interfaces continue while this one waits for a lock that a hanging driver may hold.
    lock.unlock();
    if (const auto listening = (*socket)->listen_on(interface); !listening)
      return tl::unexpected(listening.error());
    lock.lock();
    tables_.try_emplace(interface);
  }
  const auto received = (*socket)->receive([&](const host::LldpFrames::Frame& frame) {
    const auto table = tables_.find(frame.interface);
    if (table != tables_.end()) table->second.take(frame.bytes, now - frame.age, now);
  });
  if (!received) return tl::unexpected(received.error());
  host::LldpNeighbors& table = tables_[interface];
  table.expire(now);
  return table;
}

core::Result<std::shared_ptr<host::LldpFrames>> NeighborTable::frames(Clock::time_point now) {
  if (frames_) return frames_;
  if (!schedule_.take(now)) return tl::unexpected(refusal_);
  auto opened = host_.open_lldp_frames();
  if (opened) {
    frames_ = std::move(*opened);
    return frames_;
  }
  refusal_ = opened.error();
  return tl::unexpected(refusal_);
}

void NeighborTable::forget(std::uint32_t interface) {
  const std::lock_guard lock(mutex_);
  tables_.erase(interface);
}

}  // namespace rdma_exporter::collectors
