// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/metrics/families.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string_view>

#include "core/text/pattern.h"

namespace rdma_exporter::app {
namespace {

using testing::Contains;
using testing::Not;

std::set<std::string_view> names(const core::FamilySelection& selection) {
  std::set<std::string_view> all;
  for (const core::MetricDesc* family : served_families(selection)) all.insert(family->name);
  return all;
}

TEST(ServedFamilies, TheSetAloneSelectsThoseOfTheProbe) {
  core::FamilySelection selection;
  selection.include = core::Pattern("rdma_port_.*");
  const auto lean = names(selection);
  EXPECT_THAT(lean, Contains("rdma_port_up"));
  EXPECT_THAT(lean, Not(Contains("rdma_device_up")));
  EXPECT_THAT(lean, Contains("rdma_probe_attempts_total")) << "nobody can name it";
  EXPECT_THAT(lean, Contains("rdma_exporter_build_info"));
  EXPECT_THAT(lean, Not(Contains("rdma_probe_last_rtt_seconds")));
  selection.set = core::MetricSet::full;
  EXPECT_THAT(names(selection), Contains("rdma_probe_last_rtt_seconds"));
}

}  // namespace
}  // namespace rdma_exporter::app
