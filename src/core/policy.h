// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include "core/metric.h"
#include "core/text/pattern.h"

// Choices that the configuration or a request makes, and collectors and pages follow. Each has one type, so
// that no conversion can go wrong.
namespace rdma_exporter::core {

/// Which counters without a curated name are exported under the raw family of their source.
enum class RawPolicy : unsigned char {
  unmapped,  ///< those without a curated name: every counter appears exactly once
  all,       ///< every counter; curated ones appear twice
  none,      ///< no raw families
};

/// For which devices the exporter listens to asynchronous events.
enum class AsyncEventsPolicy : unsigned char {
  automatic,  ///< for drivers that release a device even if it is open (host::lets_go_while_open)
  on,         ///< for all devices
  off,
};

/// Whether tables of RDMA resources are dumped.
enum class ResourceDetail : unsigned char {
  automatic,  ///< if the kernel is known to be free of races with resource dumps
  on,
  off,
};

/// Owners to which RDMA resources are attributed.
enum class ResourceOwners : unsigned char { none, process, cgroup };

/// Selects the families of a page: those of the set whose names match `include` (unset: any) and do not match
/// `exclude`. Thread-safe.
struct FamilySelection {
  MetricSet set = MetricSet::lean;
  Pattern include = {};
  Pattern exclude = {};

  bool full() const { return set == MetricSet::full; }
  bool in_set(const MetricDesc& family) const { return full() || family.set == MetricSet::lean; }
  bool has(const MetricDesc& family) const {
    return in_set(family) && (!include.is_set() || include.matches(family.name)) &&
           !exclude.matches(family.name);
  }
};

}  // namespace rdma_exporter::core
