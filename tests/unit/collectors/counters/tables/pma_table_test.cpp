// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/counters/tables/pma_table.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "collectors/counters/tables/port_families.h"

namespace rdma_exporter::collectors {
namespace {

using host::Driver;

// Widths of the fields of PortCounters and PortCountersExtended (core/sysfs.c).
const std::map<std::string_view, int> kWidths{
    {"symbol_error", 16},
    {"link_error_recovery", 8},
    {"link_downed", 8},
    {"port_rcv_errors", 16},
    {"port_rcv_remote_physical_errors", 16},
    {"port_rcv_switch_relay_errors", 16},
    {"port_xmit_discards", 16},
    {"port_xmit_constraint_errors", 8},
    {"port_rcv_constraint_errors", 8},
    {"local_link_integrity_errors", 4},
    {"excessive_buffer_overrun_errors", 4},
    {"VL15_dropped", 16},
    {"port_xmit_wait", 32},
    {"port_xmit_data", 64},
    {"port_rcv_data", 64},
    {"port_xmit_packets", 64},
    {"port_rcv_packets", 64},
    {"unicast_xmit_packets", 64},
    {"unicast_rcv_packets", 64},
    {"multicast_xmit_packets", 64},
    {"multicast_rcv_packets", 64},
};

const CounterRow* row(std::span<const CounterRow> rows, std::string_view raw) {
  for (const CounterRow& candidate : rows)
    if (candidate.raw == raw) return &candidate;
  return nullptr;
}

TEST(PmaTable, EveryFileHasItsOwnSeriesAndTheWidthOfItsField) {
  ASSERT_EQ(pma_rows().size(), 21U);
  std::set<std::pair<const core::MetricDesc*, std::string_view>> series;
  for (const auto& [file, bits] : kWidths) {
    const CounterRow* found = row(pma_rows(), file);
    ASSERT_NE(found, nullptr) << file;
    EXPECT_EQ(found->bits, bits) << file;
    ASSERT_NE(found->metric, nullptr) << file;
    EXPECT_TRUE(series.emplace(found->metric, found->labels).second) << file;
  }
}

TEST(PmaTable, OnlyDataFilesAreConvertedFromWordsToBytes) {
  for (const CounterRow& each : pma_rows()) {
    const bool words = each.raw == "port_rcv_data" || each.raw == "port_xmit_data";
    EXPECT_EQ(each.scale, words ? 4U : 1U) << each.raw;
    EXPECT_EQ(each.metric == &kPortDataBytes, words) << each.raw;
  }
}

TEST(PmaTable, DirectionFollowsTheFileName) {
  for (const CounterRow& each : pma_rows()) {
    if (each.labels.empty()) continue;
    const bool received = each.raw.find("rcv") != std::string_view::npos;
    EXPECT_EQ(each.labels, received ? R"(direction="rx")" : R"(direction="tx")") << each.raw;
  }
  EXPECT_EQ(row(pma_rows(), "port_xmit_wait")->metric->unit, "ticks");
}

TEST(PmaTable, TrafficIsRawWhereHwCountersFeedTheSameFamilies) {
  for (const Driver driver :
       {Driver::bnxt_re, Driver::irdma, Driver::efa, Driver::erdma, Driver::mana, Driver::hns})
    EXPECT_FALSE(pma_traffic_is_curated(driver)) << to_string(driver);
  for (const Driver driver : {Driver::mlx5, Driver::mlx4, Driver::hfi1, Driver::qib, Driver::ocrdma,
                              Driver::mthca, Driver::unknown})
    EXPECT_TRUE(pma_traffic_is_curated(driver)) << to_string(driver);

  const auto rows = pma_rows(Driver::bnxt_re);
  ASSERT_EQ(rows.size(), 21U);
  std::size_t raw = 0;
  for (const CounterRow& each : rows) {
    if (each.metric != nullptr) continue;
    ++raw;
    EXPECT_EQ(each.scale, 1U) << each.raw;
    EXPECT_EQ(each.bits, 64) << each.raw;
  }
  EXPECT_EQ(raw, 8U);
  EXPECT_EQ(row(rows, "link_downed")->metric, &kPortLinkDowned);
  EXPECT_EQ(pma_rows(Driver::mlx5).data(), pma_rows().data());
}

TEST(PmaTable, ListsExactlyTheFamiliesItsRowsUse) {
  std::set<const core::MetricDesc*> used{&kPortRaw, &kCounterSaturated};
  for (const CounterRow& each : pma_rows()) used.insert(each.metric);
  const auto listed = pma_families();
  EXPECT_EQ(std::set<const core::MetricDesc*>(listed.begin(), listed.end()), used);
  EXPECT_EQ(listed.size(), used.size());
}

// The help of a narrow field tells at which value it stops: it must be the one that its width gives.
TEST(PmaTable, HelpNamesTheValueAtWhichAFieldSticks) {
  for (const CounterRow& each : pma_rows()) {
    if (each.bits == 64) continue;
    const auto maximum = (std::uint64_t{1} << each.bits) - 1;
    EXPECT_NE(std::string(each.metric->help)
                  .find("The counter stops at " + std::to_string(maximum) + " until it is reset"),
              std::string::npos)
        << each.raw;
  }
}

}  // namespace
}  // namespace rdma_exporter::collectors
