// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/ethtool/ethtool_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <string>

#include "config/config.h"
#include "tests/unit/support/fake_ethtool.h"

namespace rdma_exporter::collectors {
namespace {

using Names = std::vector<std::string>;

Names names_of(const std::string& list) { return test::listed_interface(list).names; }

const CounterRow* row_of(std::string_view driver, std::string_view raw) {
  const auto rows = ethtool_rows(driver);
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const CounterRow& r) { return r.raw == raw; });
  return row == rows.end() ? nullptr : &*row;
}

/// `family{labels} / divisor` of a statistic, "raw" for none.
std::string exported_as(std::string_view driver, std::string_view raw) {
  const CounterRow* row = row_of(driver, raw);
  if (row == nullptr || row->metric == nullptr) return "raw";
  const std::string divisor = row->divisor == 1 ? "" : " / " + std::to_string(row->divisor);
  return std::string(row->metric->name) + "{" + std::string(row->labels) + "}" + divisor;
}

struct List {
  const char* driver;
  const char* list;
};

class DriverList : public ::testing::TestWithParam<List> {};

// A row whose name no driver has is a spelling mistake.
TEST_P(DriverList, HasEveryNameOfTheTable) {
  const Names names = names_of(GetParam().list);
  ASSERT_GT(names.size(), 50U);
  for (const CounterTable& table : ethtool_tables()) {
    if (table.driver != GetParam().driver) continue;
    for (const CounterRow& row : table.rows) {
      const bool found = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
        return std::equal(name.begin(), name.end(), row.raw.begin(), row.raw.end(),
                          [](char a, char b) { return a == b || (b == '#' && a >= '0' && a <= '7'); });
      });
      EXPECT_TRUE(found) << row.raw;
    }
  }
}

// What the kernel's documents call an error or a drop reaches the page, and no ring does.
TEST_P(DriverList, IsCutToAReasonableSizeInTheFullSet) {
  const config::EthtoolConfig settings;
  const std::regex ring(R"(((qos_|ptp_)?(rx|tx|ch)(q|_queue_|-|_)?\d+[_.].*)|(\[?\d+.*)|(queue_\d+_.*))");
  const std::regex trouble(".*(err|drop|discard|fault).*");
  std::size_t raw = 0;
  for (const std::string& name : names_of(GetParam().list)) {
    const bool exported = !settings.raw_exclude.matches(name);
    if (exported && exported_as(GetParam().driver, name) == "raw") ++raw;
    if (std::regex_match(name, ring)) {
      EXPECT_FALSE(exported) << name;
    } else if (std::regex_match(name, trouble)) {
      EXPECT_TRUE(exported || exported_as(GetParam().driver, name) != "raw") << name;
    }
  }
  EXPECT_LT(raw, 250U);
}

INSTANTIATE_TEST_SUITE_P(Drivers, DriverList,
                         ::testing::Values(List{"mlx5_core", "mlx5"}, List{"bnxt_en", "bnxt_en"},
                                           List{"ice", "ice"}, List{"i40e", "i40e"}, List{"ionic", "ionic"},
                                           List{"hns3", "hns3"}, List{"mlx4_core", "mlx4"},
                                           List{"cxgb4", "cxgb4"}, List{"qede", "qede"}, List{"mana", "mana"},
                                           List{"ena", "ena"}),
                         [](const auto& list) { return std::string(list.param.list); });

// One event, one name: PFC frames received on priority 3, by every driver that counts them.
TEST(EthtoolTable, NamesTheSameThingTheSameForEveryDriver) {
  const std::string frames = R"(rdma_pfc_frames_total{priority="3",direction="rx"})";
  EXPECT_EQ(exported_as("mlx5_core", "rx_prio3_pause"), frames);
  EXPECT_EQ(exported_as("bnxt_en", "rx_pfc_ena_frames_pri3"), frames);
  EXPECT_EQ(exported_as("ice", "rx_priority_3_xoff.nic"), frames);
  EXPECT_EQ(exported_as("ice", "rx_priority_3_xon.nic"), frames);
  EXPECT_EQ(exported_as("i40e", "port.rx_priority_3_xoff_rx"), frames);
  EXPECT_EQ(exported_as("hns3", "mac_rx_pfc_pri3_pkt_num"), frames);
  EXPECT_EQ(exported_as("mlx4_core", "rx_pause_prio_3"), frames);
  EXPECT_EQ(exported_as("cxgb4", "rx_ppp3_frames"), frames);
  const std::string time = R"(rdma_pfc_pause_seconds_total{priority="0",direction="tx"} / 1000000)";
  EXPECT_EQ(exported_as("mlx5_core", "tx_prio0_pause_duration"), time);
  EXPECT_EQ(exported_as("bnxt_en", "pfc_pri0_tx_duration_us"), time);
  EXPECT_EQ(exported_as("ionic", "tx_pripause_0_1us_count"), time);
  EXPECT_EQ(exported_as("mlx4_core", "tx_pause_duration_prio_0"), time);
  EXPECT_EQ(exported_as("hns3", "mac_tx_pfc_pri0_xoff_time"), "raw") << "its unit is not documented";
}

// What a driver calls received is "rx" and what it calls sent is "tx"; what it counts in microseconds becomes
// seconds.
TEST(EthtoolTable, HasTheDirectionAndTheUnitInTheNameOfTheStatistic) {
  const std::regex received(R"((^|[_.])rx([_.]|$))");
  const std::regex sent(R"((^|[_.])tx([_.]|$))");
  const std::regex time(R"(duration(_prio)?|_us$|_1us_)");
  std::size_t directed = 0;
  std::size_t times = 0;
  for (const CounterTable& table : ethtool_tables()) {
    for (const CounterRow& row : table.rows) {
      const std::string raw(row.raw);
      if (row.metric == nullptr) continue;
      times += std::regex_search(raw, time) ? 1U : 0U;
      EXPECT_EQ(std::regex_search(raw, time), row.divisor == 1'000'000) << table.driver << " " << raw;
      const bool rx = std::regex_search(raw, received);
      if (row.labels.find("direction=") == std::string_view::npos || (!rx && !std::regex_search(raw, sent)))
        continue;
      ++directed;
      EXPECT_NE(row.labels.find(rx ? "direction=\"rx\"" : "direction=\"tx\""), std::string_view::npos)
          << table.driver << " " << raw;
    }
  }
  EXPECT_GT(directed, 60U);
  EXPECT_GT(times, 8U);
}

TEST(EthtoolTable, KnowsSubfunctionsAndStaysSilentAboutOthers) {
  EXPECT_EQ(ethtool_rows("mlx5_core.sf").data(), ethtool_rows("mlx5_core").data());
  EXPECT_TRUE(ethtool_rows("virtio_net").empty());
  EXPECT_TRUE(ethtool_rows("").empty());
}

TEST(EthtoolTable, HasTheWrittenRowsOnceForEachDigit) {
  std::set<std::string_view> raws;
  for (const CounterRow& row : ethtool_rows("mlx5_core")) {
    EXPECT_EQ(row.raw.find('#'), std::string_view::npos);
    EXPECT_EQ(row.labels.find('#'), std::string_view::npos);
    EXPECT_TRUE(raws.insert(row.raw).second) << row.raw;
  }
  EXPECT_TRUE(raws.contains("rx_prio0_bytes") && raws.contains("rx_prio7_bytes"));
}

}  // namespace
}  // namespace rdma_exporter::collectors
