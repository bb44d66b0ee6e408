// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/events/event_counts.h"

#include <algorithm>

#include "core/labels.h"

namespace rdma_exporter::host {
namespace {

using Type = AsyncEventType;

// LIDs, partitions and subnet managers are InfiniBand's.
constexpr std::array kOfEveryPort{Type::port_active, Type::port_err, Type::gid_change};
constexpr std::array kOfInfiniBandPorts{Type::lid_change, Type::pkey_change, Type::sm_change,
                                        Type::client_reregister};

std::size_t index(EventSource source) { return static_cast<std::size_t>(source); }

}  // namespace

EventCounts::Source EventCounts::source(EventSource source) const {
  const std::lock_guard lock(mutex_);
  return sources_[index(source)];
}

void EventCounts::set_up(EventSource source) {
  const std::lock_guard lock(mutex_);
  sources_[index(source)].up = true;
}

void EventCounts::set_down(EventSource source, const core::Error& error) {
  const std::lock_guard lock(mutex_);
  sources_[index(source)].up = false;
  sources_[index(source)].error = error;
}

void EventCounts::received(EventSource source, std::uint64_t messages) {
  const std::lock_guard lock(mutex_);
  sources_[index(source)].received += messages;
}

void EventCounts::lost(EventSource source) {
  const std::lock_guard lock(mutex_);
  ++sources_[index(source)].lost;
}

EventCounts::Row& EventCounts::row(Device& device, const std::string& name, const AsyncEvent& event) {
  const auto it = std::find_if(device.rows.begin(), device.rows.end(), [&](const Row& row) {
    return row.port == event.port && row.type == event.type;
  });
  if (it != device.rows.end()) return *it;
  const std::string port = event.port == 0 ? "" : std::to_string(event.port);
  const std::string_view type = kAsyncEventNames[static_cast<std::size_t>(event.type)];
  std::string labels = core::render_labels({{"device", name}, {"port", port}, {"event", type}});
  return device.rows.emplace_back(Row{event.port, event.type, std::move(labels)});
}

void EventCounts::listen(const std::string& device, std::span<const std::uint32_t> ports, bool infiniband) {
  const std::lock_guard lock(mutex_);
  Device& entry = devices_[device];
  entry.ports.assign(ports.begin(), ports.end());
  for (const std::uint32_t port : ports) {
    for (const Type type : kOfEveryPort) row(entry, device, {type, port});
    if (!infiniband) continue;
    for (const Type type : kOfInfiniBandPorts) row(entry, device, {type, port});
  }
  row(entry, device, {Type::device_fatal, 0});
}

void EventCounts::count(const std::string& device, const AsyncEvent& event) {
  const std::lock_guard lock(mutex_);
  ++sources_[index(EventSource::async)].received;
  const auto it = devices_.find(device);
  if (it == devices_.end()) return;
  // An event for a port that the device does not have counts for the device: rows for such ports would never
  // end.
  const auto& ports = it->second.ports;
  const bool known = std::find(ports.begin(), ports.end(), event.port) != ports.end();
  ++row(it->second, device, {event.type, known ? event.port : 0}).count;
}

void EventCounts::adopt(const std::string& device) {
  const std::lock_guard lock(mutex_);
  ++devices_[device].owners;
}

void EventCounts::release(const std::string& device, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  const auto it = devices_.find(device);
  if (it == devices_.end() || --it->second.owners > 0) return;
  it->second.released = now;
}

void EventCounts::for_each_of(const std::string& device, const OnRow& on_row) const {
  const std::lock_guard lock(mutex_);
  const auto it = devices_.find(device);
  if (it == devices_.end()) return;
  for (const Row& row : it->second.rows) on_row(row.labels, row.count);
}

void EventCounts::for_each_gone(std::chrono::seconds forget_after, Clock::time_point now,
                                const OnRow& on_row) {
  const std::lock_guard lock(mutex_);
  std::erase_if(devices_, [&](const auto& entry) {
    return entry.second.owners == 0 && now - entry.second.released >= forget_after;
  });
  for (const auto& [name, device] : devices_) {
    if (device.owners > 0) continue;
    for (const Row& row : device.rows) on_row(row.labels, row.count);
  }
}

}  // namespace rdma_exporter::host
