// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/resource/dump_guard.h"

#include <algorithm>

namespace rdma_exporter::collectors {

bool DumpGuard::fresh(std::uint64_t id) {
  if (seen_.empty() || id > seen_.back()) {
    seen_.push_back(id);
    return true;
  }
  const auto at = std::lower_bound(seen_.begin(), seen_.end(), id);
  if (*at == id) return false;
  seen_.insert(at, id);
  return true;
}

bool DumpGuard::more(Clock::time_point now) {
  idle_messages_ = seen_.size() == seen_before_ ? idle_messages_ + 1 : 0;
  seen_before_ = seen_.size();
  if (seen_.size() > max_entries_) stopped_ = kMaxEntries;
  if (now >= deadline_) stopped_ = kTimeout;
  if (idle_messages_ >= kIdleMessages) stopped_ = kStalled;
  return stopped_.empty();
}

}  // namespace rdma_exporter::collectors
