// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include "core/metric.h"
#include "core/text/pattern.h"

namespace rdma_exporter::core {

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
