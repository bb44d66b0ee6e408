// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/metrics/families.h"

#include <set>

#include "app/metrics/privileges.h"
#include "app/metrics/self_metrics.h"
#include "collectors/collector.h"
#include "probe/stats/registry.h"
#include "scrape/engine.h"

namespace rdma_exporter::app {

std::vector<FamilyGroup> family_groups() {
  std::vector<FamilyGroup> groups;
  std::set<const core::MetricDesc*> seen;
  const auto add = [&](FamilyGroup& group, const core::MetricDesc* family) {
    if (seen.insert(family).second) group.families.push_back(family);
  };
  for (const collectors::CollectorSpec* spec : collectors::all_collectors()) {
    FamilyGroup& group =
        groups.emplace_back(FamilyGroup{spec->name, spec->help, Selected::by_set_and_name, {}});
    for (const core::MetricDesc* family : spec->families()) add(group, family);
  }
  FamilyGroup& probe = groups.emplace_back(
      FamilyGroup{"probe", "Latency over RC verbs (docs/PROBE.md)", Selected::by_set, {}});
  for (const core::MetricDesc* family : probe::Registry::families()) add(probe, family);
  FamilyGroup& own =
      groups.emplace_back(FamilyGroup{"exporter", "Metrics about the exporter itself", Selected::always, {}});
  for (const core::MetricDesc* family : scrape::Engine::families()) add(own, family);
  for (const core::MetricDesc* family : self_families()) add(own, family);
  for (const core::MetricDesc* family : Privileges::families()) add(own, family);
  return groups;
}

std::vector<const core::MetricDesc*> all_families() {
  std::vector<const core::MetricDesc*> all;
  for (const FamilyGroup& group : family_groups())
    all.insert(all.end(), group.families.begin(), group.families.end());
  return all;
}

namespace {

bool is_served(Selected selected, const core::FamilySelection& selection, const core::MetricDesc& family) {
  if (selected == Selected::by_set_and_name) return selection.has(family);
  return selected == Selected::always || selection.in_set(family);
}

}  // namespace

std::vector<const core::MetricDesc*> served_families(const core::FamilySelection& selection) {
  std::vector<const core::MetricDesc*> served;
  for (const FamilyGroup& group : family_groups())
    for (const core::MetricDesc* family : group.families)
      if (is_served(group.selected, selection, *family)) served.push_back(family);
  return served;
}

}  // namespace rdma_exporter::app
