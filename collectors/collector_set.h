// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "collectors/collector.h"
#include "core/result.h"
#include "host/topology/inventory.h"
#include "host/topology/netdev.h"

namespace rdma_exporter::collectors {

/// The enabled collectors and their jobs for the devices that exist. Not thread-safe.
class CollectorSet {
 public:
  /// `context` outlives the set. `wanted` returns false for the names of devices to leave alone.
  CollectorSet(const Context& context, std::span<const CollectorSpec* const> enabled,
               std::function<bool(const std::string&)> wanted);

  /// Looks for devices that have appeared or disappeared. Returns true if jobs() has changed.
  core::Result<bool> refresh();
  /// Names of the devices that exist, sorted.
  std::vector<std::string> device_names() const;
  /// See host::Inventory::unreachable().
  const std::vector<std::string>& unreachable() const { return inventory_.unreachable(); }

  /// Stops what collectors do between collections; see Collector::stop(). Any thread.
  bool stop(std::chrono::steady_clock::time_point deadline);

  using Jobs = std::vector<std::shared_ptr<core::Job>>;
  Jobs jobs() const;

 private:
  // A device and the job that each collector has for it; made once per registration.
  struct Entry {
    DeviceHandle handle;
    Jobs jobs;
  };

  struct NetdevEntry {
    std::shared_ptr<const host::Netdev> netdev;
    Jobs jobs;
  };

  void refresh_entries();
  void refresh_netdev_entries();
  void forget_the_gone() const;
  NetdevEntry make_netdev_entry(const std::shared_ptr<const host::Netdev>& netdev);
  Entry make_entry(const std::shared_ptr<const host::Device>& device);

  const Context& context_;
  host::Inventory inventory_;
  host::Netdevs netdevs_;
  std::vector<std::unique_ptr<Collector>> collectors_;
  Jobs host_jobs_;
  std::vector<Entry> entries_;
  std::vector<NetdevEntry> netdev_entries_;
  bool first_ = true;
};

}  // namespace rdma_exporter::collectors
