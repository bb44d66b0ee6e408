// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/collector_set.h"

#include <algorithm>
#include <utility>

#include "collectors/counters/carry_over.h"
#include "collectors/counters/tables/hw_table.h"
#include "host/events/port_states.h"

namespace rdma_exporter::collectors {

CollectorSet::CollectorSet(const Context& context, std::span<const CollectorSpec* const> enabled,
                           std::function<bool(const std::string&)> wanted)
    : context_(context),
      inventory_(context.host, std::move(wanted), driver_of_counters),
      netdevs_(context.host) {
  for (const CollectorSpec* spec : enabled) {
    collectors_.push_back(spec->make(context));
    if (auto job = collectors_.back()->host_job()) host_jobs_.push_back(std::move(job));
  }
}

core::Result<bool> CollectorSet::refresh() {
  const auto changed = inventory_.refresh();
  if (!changed) return changed;
  const bool devices_changed = *changed || first_;
  const bool netdevs_changed =
      netdevs_.refresh(inventory_.devices(), devices_changed, host::Netdevs::Clock::now());
  if (!devices_changed && !netdevs_changed) return false;
  first_ = false;
  if (devices_changed) refresh_entries();
  if (netdevs_changed) refresh_netdev_entries();
  forget_the_gone();
  return true;
}

CollectorSet::Jobs CollectorSet::jobs() const {
  Jobs jobs = host_jobs_;
  for (const Entry& entry : entries_) jobs.insert(jobs.end(), entry.jobs.begin(), entry.jobs.end());
  for (const NetdevEntry& entry : netdev_entries_)
    jobs.insert(jobs.end(), entry.jobs.begin(), entry.jobs.end());
  return jobs;
}

std::vector<std::string> CollectorSet::device_names() const {
  std::vector<std::string> names;
  for (const auto& device : inventory_.devices()) names.push_back(device->name);
  return names;
}

bool CollectorSet::stop(std::chrono::steady_clock::time_point deadline) {
  bool ended = true;
  for (const auto& collector : collectors_) ended = collector->stop(deadline) && ended;
  return ended;
}

void CollectorSet::refresh_entries() {
  std::vector<Entry> entries;
  entries.reserve(inventory_.devices().size());
  std::vector<DeviceHandle> handles;
  for (const auto& device : inventory_.devices()) {
    const auto known = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const Entry& e) { return e.handle.device == device; });
    entries.push_back(known == entries_.end() ? make_entry(device) : std::move(*known));
    handles.push_back(entries.back().handle);
  }
  entries_ = std::move(entries);
  for (const auto& collector : collectors_) collector->devices_changed(handles);
}

void CollectorSet::refresh_netdev_entries() {
  std::vector<NetdevEntry> entries;
  entries.reserve(netdevs_.all().size());
  for (const auto& netdev : netdevs_.all()) {
    const auto known = std::find_if(netdev_entries_.begin(), netdev_entries_.end(),
                                    [&](const NetdevEntry& e) { return e.netdev == netdev; });
    entries.push_back(known == netdev_entries_.end() ? make_netdev_entry(netdev) : std::move(*known));
  }
  netdev_entries_ = std::move(entries);
}

void CollectorSet::forget_the_gone() const {
  std::vector<host::FileId> there;
  for (const Entry& entry : entries_) there.push_back(entry.handle.device->id);
  for (const NetdevEntry& entry : netdev_entries_) there.push_back(entry.netdev->id);
  context_.carry_over->keep_only(there);
}

CollectorSet::NetdevEntry CollectorSet::make_netdev_entry(const std::shared_ptr<const host::Netdev>& netdev) {
  NetdevEntry entry{netdev, {}};
  for (const auto& collector : collectors_)
    if (auto job = collector->netdev_job(netdev)) entry.jobs.push_back(std::move(job));
  entry.jobs.shrink_to_fit();
  return entry;
}

CollectorSet::Entry CollectorSet::make_entry(const std::shared_ptr<const host::Device>& device) {
  Entry entry{{device, std::make_shared<host::PortStates>(context_.host, device)}, {}};
  for (const auto& collector : collectors_)
    if (auto job = collector->device_job(entry.handle)) entry.jobs.push_back(std::move(job));
  entry.jobs.shrink_to_fit();
  return entry;
}

}  // namespace rdma_exporter::collectors
