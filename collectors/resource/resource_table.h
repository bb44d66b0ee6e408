// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/metric.h"
#include "host/netlink/nldev_resource.h"

// What is counted of the tables of objects: each object is added up under a few numbers, and only the sums
// are kept.
namespace rdma_exporter::collectors {

/// A sample of a table, its labels behind those of the device rendered.
struct ResourceRow {
  const core::MetricDesc* metric;
  std::string labels;
  std::uint64_t value;
};

/// Who made an object, as the kernel says it: a module, a process, or (neither) somebody who is dead or in a
/// PID namespace that we do not see.
struct ResourceOwner {
  std::string module;
  std::uint32_t pid = 0;
  auto operator<=>(const ResourceOwner&) const = default;
};

/// Share of an owner in one table.
struct OwnerShare {
  std::uint64_t objects = 0;
  std::uint64_t bytes = 0;  ///< memory regions only
};
using OwnerShares = std::map<ResourceOwner, OwnerShare>;

/// Adds up the objects of one table.
class ResourceTally {
 public:
  explicit ResourceTally(host::nldev::ResourceTable table) : table_(table) {}

  void add(const host::nldev::Resource& resource);

  /// The sums. Of memory regions and completion queues there are always those of user space and of the
  /// kernel; of the others only combinations that occur.
  std::vector<ResourceRow> rows() const;
  const OwnerShares& owners() const { return owners_; }
  /// Some memory region has on-demand paging, so that there may be statistics of it.
  bool on_demand() const { return on_demand_; }

 private:
  using Key = std::array<std::uint32_t, 4>;
  using Values = std::array<std::uint64_t, 3>;

  Key key_of(const host::nldev::Resource& resource) const;
  std::string labels_of(const Key& key) const;

  const host::nldev::ResourceTable table_;
  std::map<Key, Values> sums_;
  OwnerShares owners_;
  bool on_demand_ = false;
};

}  // namespace rdma_exporter::collectors
