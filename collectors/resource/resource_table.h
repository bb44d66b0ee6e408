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
#include "host/netlink/nldev/resource.h"

// Sums over the tables of objects: each object is added to a few totals, and only these are kept.
namespace rdma_exporter::collectors {

/// A sample of a table. Its labels, already rendered, follow those of the device.
struct ResourceRow {
  const core::MetricDesc* metric;
  std::string labels;
  std::uint64_t value;
};

/// Who created an object according to the kernel: a module, a process, or (neither) a process that has ended
/// or is in a PID namespace that we cannot see.
struct ResourceOwner {
  std::string module;
  std::uint32_t pid = 0;
  auto operator<=>(const ResourceOwner&) const = default;
};

/// An owner's share of one table.
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

  /// The sums. Memory regions and completion queues always have those of user space and of the kernel; others
  /// only combinations that occur.
  std::vector<ResourceRow> rows() const;
  const OwnerShares& owners() const { return owners_; }
  /// Whether some memory region has on-demand paging, so that statistics about it may exist.
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
