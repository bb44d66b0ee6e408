// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/counters/carry_over.h"

#include <algorithm>

namespace rdma_exporter::collectors {

CarryOver::Slot CarryOver::take(const host::FileId& registration, const std::string& source) {
  const std::lock_guard lock(mutex_);
  auto known = std::find_if(sources_.begin(), sources_.end(), [&](const Source& s) {
    return s.registration == registration && s.name == source;
  });
  if (known == sources_.end())
    known = sources_.insert(sources_.end(), {registration, source, std::make_shared<Entry>()});
  Slot slot;
  slot.entry_ = known->entry;
  const std::lock_guard entry_lock(known->entry->mutex);
  slot.turn_ = ++known->entry->turn;
  slot.found_ = known->entry->state;
  return slot;
}

void CarryOver::keep_only(std::span<const host::FileId> registrations) {
  const std::lock_guard lock(mutex_);
  std::erase_if(sources_, [&](const Source& source) {
    return std::find(registrations.begin(), registrations.end(), source.registration) == registrations.end();
  });
}

std::size_t CarryOver::size() const {
  const std::lock_guard lock(mutex_);
  return sources_.size();
}

}  // namespace rdma_exporter::collectors
