// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/metric.h"
#include "core/policy.h"

namespace rdma_exporter::app {

/// What selects the families of a group: only the families of collectors have names that a user may choose.
enum class Selected : std::uint8_t { always, by_set, by_set_and_name };

/// Families of one part of the exporter.
struct FamilyGroup {
  std::string_view name;  ///< the collector's, or "exporter"
  std::string_view help;
  Selected selected;
  std::vector<const core::MetricDesc*> families;
};

/// Every family that can occur, in the order of the page, each in the first group that has it.
std::vector<FamilyGroup> family_groups();

/// The same, flat.
std::vector<const core::MetricDesc*> all_families();

/// Those of the collectors that `selection` has, of the probe those in its set, and all of the exporter
/// itself.
std::vector<const core::MetricDesc*> served_families(const core::FamilySelection& selection);

}  // namespace rdma_exporter::app
