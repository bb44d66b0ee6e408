// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "scrape/shared.h"

#include <numeric>
#include <utility>

namespace rdma_exporter::scrape {

// What is read of the host as a whole hangs for itself.
std::shared_ptr<task::Owner> Shared::owner_of(const core::Job& job) {
  const std::string name = job.subject().empty() ? " " + std::string(job.collector()) : job.subject();
  std::weak_ptr<task::Owner>& known = owners[name];
  std::shared_ptr<task::Owner> owner = known.lock();
  if (!owner) known = owner = std::make_shared<task::Owner>();
  return owner;
}

bool Shared::is_blocked(const task::Owner& owner) const {
  if (stuck.empty()) return false;
  const auto own = stuck.find(&owner);
  const auto add = [](std::size_t sum, const auto& entry) { return sum + entry.second; };
  return !pool.has_room(own == stuck.end() ? 0 : own->second,
                        std::accumulate(stuck.begin(), stuck.end(), std::size_t{0}, add), stuck.size());
}

void Shared::count_timeout(const core::Job& job) { ++timeouts[std::string(job.collector())]; }

void Shared::count_stuck(const task::Owner* owner) { ++stuck[owner]; }

void Shared::count_returned(const task::Owner* owner) {
  const auto it = stuck.find(owner);
  if (--it->second == 0) stuck.erase(it);
}

}  // namespace rdma_exporter::scrape
