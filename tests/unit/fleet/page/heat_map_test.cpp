// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "fleet/page/heat_map.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace rdma_exporter::fleet {
namespace {

// gpu-0 to gpu-N, `per_unit` in each unit.
Analysis fabric(int hosts, int per_unit) {
  Analysis made;
  made.rails = {"mlx5_0", "mlx5_1"};
  for (int i = 0; i < hosts; ++i)
    made.hosts.push_back({fmt::format("su{}", i / per_unit), fmt::format("gpu-{}:9400", i)});
  return made;
}

Problem problem(Severity severity, Component where) {
  Problem made;
  made.severity = severity;
  made.component = std::move(where);
  made.title = "it fails";
  return made;
}

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(HeatMapTest, AHostHasTheSameColumnOnAllRailsWhateverTheOthersHave) {
  Analysis made = fabric(16, 16);
  made.problems = {problem(Severity::critical, {"nic", "su0", "gpu-9:9400", "mlx5_0"}),
                   problem(Severity::warning, {"nic", "su0", "gpu-10:9400", "mlx5_1"})};
  const std::string page = heat_map(made);
  EXPECT_NE(page.find("<rect x=\"254\" y=\"43\" class=\"critical\"><title>gpu-9 mlx5_0: it fails<"),
            std::string::npos)
      << page;
  EXPECT_NE(page.find("<rect x=\"270\" y=\"59\" class=\"warning\"><title>gpu-10 mlx5_1: it fails<"),
            std::string::npos)
      << page;
  EXPECT_EQ(count(page, "rotate("), 2U) << "each faulty host is named";
}

TEST(HeatMapTest, HostsThatOneProblemListsAreShown) {
  Analysis made = fabric(8, 8);
  made.problems = {problem(Severity::warning, {"fleet"})};
  made.problems[0].members = {"gpu-1 mlx5_0", "gpu-2", "gpu-99 mlx5_0"};
  EXPECT_EQ(count(heat_map(made), "class=\"warning\""), 3U) << "a NIC, and a host on both rails";
  made.problems[0].severity = Severity::info;
  EXPECT_EQ(count(heat_map(made), "<rect"), 0U) << "hundreds would hide what is wrong";
}

TEST(HeatMapTest, ALeafIsTheRowOfItsHosts) {
  Analysis made = fabric(32, 16);
  made.problems = {problem(Severity::critical, {"leaf", "su1", "", "mlx5_1"})};
  const std::string page = heat_map(made);
  EXPECT_EQ(count(page, "<path"), 4U);
  EXPECT_EQ(count(page, "class=\"critical leaf\"><title>it fails<"), 1U);
}

TEST(HeatMapTest, ALargeFleetIsDrawnByUnitAndItsHostsOnlyWhereSomethingIsWrong) {
  Analysis made = fabric(8192, 32);
  EXPECT_EQ(count(heat_map(made), "<svg"), 7U) << "256 units, 40 side by side";
  made.problems = {problem(Severity::critical, {"nic", "su200", "gpu-6400:9400", "mlx5_0"})};
  const std::string page = heat_map(made);
  EXPECT_EQ(count(page, "<svg"), 8U);
  EXPECT_EQ(count(page, "<rect"), 2U);
  EXPECT_NE(page.find("Not drawn: 8160 hosts in rows with nothing above info."), std::string::npos);
}

TEST(HeatMapTest, WithoutUnitsHostsAreDrawnInRowsOfForty) {
  Analysis made = fabric(8192, 8192);
  for (HostCell& host : made.hosts) host.unit.clear();
  made.problems = {problem(Severity::critical, {"nic", "", "gpu-100:9400", "mlx5_0"})};
  const std::string page = heat_map(made);
  EXPECT_EQ(count(page, "<svg"), 1U);
  EXPECT_NE(page.find("gpu-80 to gpu-119"), std::string::npos);
  EXPECT_NE(page.find(">all hosts<"), std::string::npos);
}

}  // namespace
}  // namespace rdma_exporter::fleet
