// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string_view>
#include <vector>

#include "core/metric.h"

namespace rdma_exporter::app {

/// Families of one part of the exporter.
struct FamilyGroup {
  std::string_view name;  ///< the collector's, or "exporter"
  std::string_view help;
  std::vector<const core::MetricDesc*> families;
};

/// Every family that can occur, in the order of the page, each in the first group that has it.
std::vector<FamilyGroup> family_groups();

/// The same, flat.
std::vector<const core::MetricDesc*> all_families();

}  // namespace rdma_exporter::app
