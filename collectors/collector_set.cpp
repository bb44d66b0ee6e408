// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/collector_set.h"

#include <algorithm>
#include <utility>

namespace rdma_exporter::collectors {

CollectorSet::CollectorSet(const Context& context, std::span<const CollectorSpec* const> enabled,
                           std::function<bool(const std::string&)> wanted)
    : context_(context), inventory_(context.host, std::move(wanted)) {
  for (const CollectorSpec* spec : enabled) {
    collectors_.push_back(spec->make(context));
    if (auto job = collectors_.back()->host_job()) host_jobs_.push_back(std::move(job));
  }
}

core::Result<bool> CollectorSet::refresh() {
  const auto changed = inventory_.refresh();
  if (!changed) return changed;
  if (!*changed && !first_) return false;
  first_ = false;
  std::vector<Entry> entries;
  for (const auto& device : inventory_.devices()) {
    const auto known = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const Entry& e) { return e.handle.device == device; });
    entries.push_back(known == entries_.end() ? make_entry(device) : std::move(*known));
  }
  entries_ = std::move(entries);
  jobs_ = host_jobs_;
  std::vector<DeviceHandle> handles;
  for (const Entry& entry : entries_) {
    handles.push_back(entry.handle);
    jobs_.insert(jobs_.end(), entry.jobs.begin(), entry.jobs.end());
  }
  for (const auto& collector : collectors_) collector->devices_changed(handles);
  return true;
}

CollectorSet::Entry CollectorSet::make_entry(const std::shared_ptr<const host::Device>& device) {
  Entry entry{{device, std::make_shared<host::PortStates>(context_.host, device)}, {}};
  for (const auto& collector : collectors_)
    if (auto job = collector->device_job(entry.handle)) entry.jobs.push_back(std::move(job));
  return entry;
}

}  // namespace rdma_exporter::collectors
