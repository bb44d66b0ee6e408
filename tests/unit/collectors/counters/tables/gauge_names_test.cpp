// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/counters/tables/hw_table.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

namespace rdma_exporter::collectors {
namespace {

using host::Driver;

std::vector<std::string> gauges_in(const std::string& list, Driver driver) {
  std::ifstream file(SOURCE_DIR "/tests/unit/data/hw_names/" + list + ".txt");
  EXPECT_TRUE(file) << list;
  std::vector<std::string> gauges;
  for (std::string line; std::getline(file, line);)
    if (!line.starts_with('#') && is_gauge(line, driver)) gauges.push_back(line);
  return gauges;
}

TEST(GaugeNames, BnxtObjectsAndWatermarksAreGauges) {
  const auto gauges = gauges_in("bnxt_re_port", Driver::bnxt_re);
  EXPECT_EQ(gauges.size(), 9U + 9U + 1U);  // active_*, watermark_*, db_fifo_register
  for (const char* name : {"active_qps", "active_rc_qps", "watermark_mws", "db_fifo_register"})
    EXPECT_TRUE(is_gauge(name, Driver::bnxt_re)) << name;
  for (const char* name : {"resize_cq_cnt", "rx_bytes", "pacing_alerts", "dup_req"})
    EXPECT_FALSE(is_gauge(name, Driver::bnxt_re)) << name;
}

TEST(GaugeNames, ManaRateAndCongestedQueuePairsAreGauges) {
  EXPECT_EQ(gauges_in("mana_port", Driver::mana),
            (std::vector<std::string>{"num_qps_congested", "current_rate"}));
  EXPECT_TRUE(gauges_in("mana_device", Driver::mana).empty());
}

TEST(GaugeNames, Hfi1OpenContextsAreAGauge) {
  EXPECT_EQ(gauges_in("hfi1_device", Driver::hfi1), std::vector<std::string>{"DRIVER_CtxtsOpen"});
  EXPECT_TRUE(gauges_in("hfi1_port", Driver::hfi1).empty());
}

TEST(GaugeNames, OtherDriversCountOnly) {
  EXPECT_TRUE(gauges_in("mlx5_port", Driver::mlx5).empty());
  EXPECT_TRUE(gauges_in("mlx4_device", Driver::mlx4).empty());
  EXPECT_TRUE(
      gauges_in("irdma_6_18_port", Driver::irdma).empty());  // ord limit count, ird limit count: counters
  EXPECT_TRUE(gauges_in("efa_port", Driver::efa).empty());
  EXPECT_TRUE(gauges_in("hns_port", Driver::hns).empty());
  EXPECT_TRUE(gauges_in("rxe_port", Driver::rxe).empty());
}

TEST(GaugeNames, ANameIsAGaugeOnlyWithItsOwnDriver) {
  EXPECT_FALSE(is_gauge("active_qps", Driver::mlx5));
  EXPECT_FALSE(is_gauge("current_rate", Driver::bnxt_re));
}

TEST(GaugeNames, WithAnUnknownDriverAnyKnownGaugeCounts) {
  EXPECT_TRUE(is_gauge("active_qps", Driver::unknown));
  EXPECT_TRUE(is_gauge("current_rate", Driver::unknown));
  EXPECT_TRUE(is_gauge("DRIVER_CtxtsOpen", Driver::unknown));
  EXPECT_FALSE(is_gauge("rx_write_requests", Driver::unknown));
}

}  // namespace
}  // namespace rdma_exporter::collectors
