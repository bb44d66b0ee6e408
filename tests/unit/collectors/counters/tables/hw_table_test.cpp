// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/counters/tables/hw_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <ostream>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "collectors/counters/tables/pma_table.h"
#include "collectors/counters/tables/port_families.h"

namespace rdma_exporter::collectors {
namespace {

using host::Driver;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

using Names = std::vector<std::string>;
using Series = std::pair<const core::MetricDesc*, std::string_view>;

constexpr int kDrivers = static_cast<int>(Driver::siw) + 1;

/// All names the driver gives, from the kernel's sources (tests/unit/data/hw_names).
Names kernel_names(const std::string& list) {
  std::ifstream file(SOURCE_DIR "/tests/unit/data/hw_names/" + list + ".txt");
  EXPECT_TRUE(file) << list;
  Names names;
  for (std::string line; std::getline(file, line);)
    if (!line.starts_with('#')) names.push_back(line);
  return names;
}

std::vector<CounterRow> rows_of(std::span<const CounterRow> rows, std::string_view raw) {
  std::vector<CounterRow> found;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(found),
               [&](const auto& row) { return row.raw == raw; });
  return found;
}

/// `family{labels}` of the only row of that counter, "raw" if it names no family.
std::string exported_as(Driver driver, std::string_view raw) {
  const auto rows = rows_of(port_hw_rows(driver), raw);
  if (rows.size() != 1) return std::to_string(rows.size()) + " rows";
  if (rows[0].metric == nullptr) return "raw";
  return std::string(rows[0].metric->name) + "{" + std::string(rows[0].labels) + "}";
}

/// The counters whose sum is that series.
Names summed(Driver driver, const core::MetricDesc& family, std::string_view labels) {
  Names names;
  for (const CounterRow& row : port_hw_rows(driver))
    if (row.metric == &family && row.labels == labels) names.emplace_back(row.raw);
  return names;
}

std::set<Series> series_of(std::span<const CounterRow> rows) {
  std::set<Series> series;
  for (const CounterRow& row : rows)
    if (row.metric != nullptr) series.emplace(row.metric, row.labels);
  return series;
}

struct List {
  const char* file;
  Driver driver;
  bool port;                 ///< counters of a port, else of the device
  std::size_t names;         ///< in the file
  std::size_t curated;       ///< of them, in a curated family
  bool rows_for_all = true;  ///< each raw counter has a row too
};

void PrintTo(const List& list, std::ostream* out) { *out << list.file; }

class HwTableList : public testing::TestWithParam<List> {
 protected:
  static std::span<const CounterRow> rows() {
    return GetParam().port ? port_hw_rows(GetParam().driver) : device_hw_rows(GetParam().driver);
  }
};

TEST_P(HwTableList, EveryCounterIsExportedExactlyOnce) {
  const Names names = kernel_names(GetParam().file);
  EXPECT_EQ(names.size(), GetParam().names);
  std::size_t curated = 0;
  for (const std::string& name : names) {
    const auto found = rows_of(rows(), name);
    // The one exception: ignored CNPs are part of all received ones and a series of their own.
    const bool twice = GetParam().port && (name == "rp_cnp_ignored" || name == "cnpIgnored");
    EXPECT_LE(found.size(), twice ? 2U : 1U) << name;
    EXPECT_GE(found.size(), GetParam().rows_for_all ? 1U : 0U) << name;
    if (!found.empty() && found[0].metric != nullptr) ++curated;
  }
  EXPECT_EQ(curated, GetParam().curated);
}

TEST_P(HwTableList, SumsHaveAllTheirCountersOnAKernelThatHasOne) {
  const Names names = kernel_names(GetParam().file);
  const std::set<std::string_view> present(names.begin(), names.end());
  std::map<Series, std::size_t> wanted;
  std::map<Series, std::size_t> got;
  for (const CounterRow& row : rows()) {
    if (row.metric == nullptr) continue;
    if (!is_other_spelling(row.raw, GetParam().driver)) ++wanted[{row.metric, row.labels}];
    if (present.contains(row.raw)) ++got[{row.metric, row.labels}];
  }
  for (const auto& [series, count] : got)
    EXPECT_EQ(count, wanted[series]) << series.first->name << series.second;
}

INSTANTIATE_TEST_SUITE_P(
    Drivers, HwTableList,
    testing::Values(
        List{"mlx5_port", Driver::mlx5, true, 38, 29},
        List{"mlx5_switchdev_port", Driver::mlx5, true, 26, 24},
        List{"mlx4_port", Driver::mlx4, true, 23, 21}, List{"bnxt_re_port", Driver::bnxt_re, true, 92, 39},
        List{"irdma_port", Driver::irdma, true, 46, 23}, List{"irdma_6_18_port", Driver::irdma, true, 57, 32},
        List{"efa_port", Driver::efa, true, 22, 10}, List{"erdma_port", Driver::erdma, true, 11, 4},
        List{"hns_port", Driver::hns, true, 22, 4}, List{"mana_port", Driver::mana, true, 34, 24},
        List{"rxe_port", Driver::rxe, true, 15, 11}, List{"hfi1_port", Driver::hfi1, true, 230, 6, false},
        List{"mlx5_device", Driver::mlx5, false, 31, 0, false},
        List{"mlx4_device", Driver::mlx4, false, 25, 0}, List{"efa_device", Driver::efa, false, 12, 0},
        List{"mana_device", Driver::mana, false, 6, 0}, List{"cxgb4_device", Driver::cxgb4, false, 8, 0},
        List{"hfi1_device", Driver::hfi1, false, 470, 0, false}),
    [](const auto& list) { return std::string(list.param.file); });

TEST(DriverOfCounters, KnowsEachDriverWhoseTableIsWhole) {
  for (const auto& [list, driver] : {std::pair{"mlx5_port", Driver::mlx5},
                                     {"mlx5_switchdev_port", Driver::mlx5},
                                     {"mlx4_port", Driver::mlx4},
                                     {"bnxt_re_port", Driver::bnxt_re},
                                     {"irdma_port", Driver::irdma},
                                     {"irdma_6_18_port", Driver::irdma},
                                     {"efa_port", Driver::efa},
                                     {"erdma_port", Driver::erdma},
                                     {"hns_port", Driver::hns},
                                     {"mana_port", Driver::mana},
                                     {"rxe_port", Driver::rxe},
                                     {"hfi1_port", Driver::unknown}}) {  // a few of its counters
    Names names = kernel_names(list);
    names.emplace_back("lifespan");
    EXPECT_EQ(driver_of_counters(names), driver) << list;
  }
}

TEST(DriverOfCounters, NeedsFourFifthsOfTheNamesAndThreeOfItsOwn) {
  const Names shared{"duplicate_request", "rx_read_requests"};
  const Names own{"rp_cnp_handled", "rx_icrc_encapsulated", "roce_adp_retrans"};
  Names names = shared;
  EXPECT_EQ(driver_of_counters(names), Driver::unknown);
  names.insert(names.end(), own.begin(), own.end() - 1);
  EXPECT_EQ(driver_of_counters(names), Driver::unknown);
  names.push_back(own.back());
  EXPECT_EQ(driver_of_counters(names), Driver::mlx5);
  names.emplace_back("a_counter_of_tomorrow");
  EXPECT_EQ(driver_of_counters(names), Driver::mlx5) << "five of six";
  names.emplace_back("another_one");
  EXPECT_EQ(driver_of_counters(names), Driver::unknown);
  EXPECT_EQ(driver_of_counters({}), Driver::unknown);
}

TEST(HwTable, HasNoRowForANameThatNoKernelGives) {
  std::map<Driver, std::set<std::string>> names;
  // Spellings of an early patch for the third generation.
  names[Driver::irdma] = {"Rx ATS", "Tx ATS"};
  for (const auto& [file, driver] : {std::pair{"mlx5_port", Driver::mlx5},
                                     {"mlx5_switchdev_port", Driver::mlx5},
                                     {"mlx4_device", Driver::mlx4},
                                     {"bnxt_re_port", Driver::bnxt_re},
                                     {"irdma_port", Driver::irdma},
                                     {"irdma_6_18_port", Driver::irdma},
                                     {"efa_port", Driver::efa},
                                     {"efa_device", Driver::efa},
                                     {"erdma_port", Driver::erdma},
                                     {"hns_port", Driver::hns},
                                     {"mana_port", Driver::mana},
                                     {"mana_device", Driver::mana},
                                     {"rxe_port", Driver::rxe},
                                     {"hfi1_port", Driver::hfi1},
                                     {"cxgb4_device", Driver::cxgb4}})
    for (std::string& name : kernel_names(file)) names[driver].insert(std::move(name));
  for (int i = 0; i < kDrivers; ++i) {
    const auto driver = static_cast<Driver>(i);
    for (const auto& rows : {port_hw_rows(driver), device_hw_rows(driver)})
      for (const CounterRow& row : rows) EXPECT_TRUE(names[driver].contains(std::string(row.raw))) << row.raw;
  }
}

TEST(HwTable, NoSeriesIsFedByPmaFilesAndHwCountersOfOneDriver) {
  for (int i = 0; i < kDrivers; ++i) {
    const auto driver = static_cast<Driver>(i);
    const auto hw = series_of(port_hw_rows(driver));
    for (const Series& series : series_of(pma_rows(driver)))
      EXPECT_FALSE(hw.contains(series)) << i << " " << series.first->name << series.second;
  }
}

TEST(HwTable, ListsExactlyTheFamiliesItsTablesUse) {
  std::set<const core::MetricDesc*> used{&kPortRaw, &kPortRawValue, &kDeviceRaw, &kDeviceRawValue};
  for (int i = 0; i < kDrivers; ++i)
    for (const CounterRow& row : port_hw_rows(static_cast<Driver>(i)))
      if (row.metric != nullptr) used.insert(row.metric);
  const auto listed = hw_families();
  EXPECT_EQ(std::set<const core::MetricDesc*>(listed.begin(), listed.end()), used);
  EXPECT_EQ(listed.size(), used.size());
}

TEST(HwTable, CuratedFamiliesAreThoseOfPmaFilesAndHwCounters) {
  std::set<std::string_view> used;
  for (const auto& families : {pma_families(), hw_families()})
    for (const core::MetricDesc* family : families) used.insert(family->name);
  for (const core::MetricDesc* raw :
       {&kPortRaw, &kPortRawValue, &kDeviceRaw, &kDeviceRawValue, &kCounterSaturated})
    EXPECT_EQ(used.erase(raw->name), 1U) << raw->name;
  std::set<std::string_view> curated;
  for (const core::MetricDesc* family : curated_port_families())
    EXPECT_TRUE(curated.insert(family->name).second);
  EXPECT_EQ(curated, used);
}

TEST(HwTable, GaugesAreNeverCuratedCounters) {
  for (int i = 0; i < kDrivers; ++i)
    for (const CounterRow& row : port_hw_rows(static_cast<Driver>(i)))
      EXPECT_FALSE(row.metric != nullptr && is_gauge(row.raw, static_cast<Driver>(i))) << row.raw;
}

TEST(HwTable, Mlx5QueueCountersWrapAt32Bits) {
  const std::set<std::string> wide{"rp_cnp_ignored",  "rp_cnp_handled",       "np_ecn_marked_roce_packets",
                                   "np_cnp_sent",     "rx_icrc_encapsulated", "cc_rx_ce_pkts",
                                   "cc_rx_cnp_pkts",  "cc_tx_cnp_pkts",       "rdma_tx_packets",
                                   "rdma_rx_packets", "rdma_tx_bytes",        "rdma_rx_bytes"};
  for (const char* list : {"mlx5_port", "mlx5_switchdev_port"})
    for (const std::string& name : kernel_names(list))
      for (const CounterRow& row : rows_of(port_hw_rows(Driver::mlx5), name))
        EXPECT_EQ(row.bits, wide.contains(name) ? 64 : 32) << name;
  std::size_t narrow = 0;
  for (const std::string& name : kernel_names("mlx5_device"))
    for (const CounterRow& row : rows_of(device_hw_rows(Driver::mlx5), name))
      narrow += row.bits == 32 ? 1U : 0U;
  EXPECT_EQ(narrow, 26U);
}

TEST(HwTable, Mlx4CountersWrapAt32Bits) {
  for (const CounterRow& row : port_hw_rows(Driver::mlx4)) EXPECT_EQ(row.bits, 32) << row.raw;
  for (const CounterRow& row : device_hw_rows(Driver::mlx4)) EXPECT_EQ(row.bits, 32) << row.raw;
}

TEST(HwTable, Mlx5SwitchdevNamesFeedTheFamiliesOfThePlainOnes) {
  std::size_t vports = 0;
  for (const CounterRow& row : port_hw_rows(Driver::mlx5)) {
    if (!row.raw.starts_with("vport_")) continue;
    ++vports;
    EXPECT_TRUE(is_other_spelling(row.raw, Driver::mlx5));
    EXPECT_FALSE(is_other_spelling(row.raw.substr(6), Driver::mlx5));
    EXPECT_EQ(exported_as(Driver::mlx5, row.raw), exported_as(Driver::mlx5, row.raw.substr(6))) << row.raw;
  }
  EXPECT_EQ(vports, 26U);
}

TEST(HwTable, IrdmaNamesOf618FeedTheFamiliesOfTheOldOnes) {
  for (const auto& [before, since] : std::map<std::string, std::string>{{"tcpRetransSegs", "RetransSegs"},
                                                                        {"tcpInSegs", "InSegs"},
                                                                        {"iwInRdmaReads", "InRdmaReads"},
                                                                        {"iwInRdmaSends", "InRdmaSends"},
                                                                        {"iwInRdmaWrites", "InRdmaWrites"},
                                                                        {"iwOutRdmaReads", "OutRdmaReads"},
                                                                        {"iwOutRdmaSends", "OutRdmaSends"},
                                                                        {"iwOutRdmaWrites", "OutRdmaWrites"},
                                                                        {"Rx atomics", "Rx ATS"}}) {
    EXPECT_EQ(exported_as(Driver::irdma, before), exported_as(Driver::irdma, since)) << since;
    EXPECT_TRUE(is_other_spelling(since, Driver::irdma)) << since;
    EXPECT_FALSE(is_other_spelling(before, Driver::irdma)) << before;
  }
  EXPECT_FALSE(is_other_spelling("RNR sent", Driver::irdma));
  EXPECT_FALSE(is_other_spelling("RetransSegs", Driver::cxgb4));
}

TEST(HwTable, ReceivedCnpsAreHandledPlusIgnored) {
  EXPECT_THAT(summed(Driver::mlx5, kPortCnpPackets, "direction=\"rx\""),
              UnorderedElementsAre("rp_cnp_handled", "rp_cnp_ignored"));
  EXPECT_THAT(summed(Driver::irdma, kPortCnpPackets, "direction=\"rx\""),
              UnorderedElementsAre("cnpHandled", "cnpIgnored"));
  EXPECT_THAT(summed(Driver::mlx5, kPortCnpIgnored, ""), ElementsAre("rp_cnp_ignored"));
  EXPECT_THAT(summed(Driver::irdma, kPortCnpIgnored, ""), ElementsAre("cnpIgnored"));
  EXPECT_THAT(summed(Driver::bnxt_re, kPortCnpPackets, "direction=\"rx\""), ElementsAre("rx_cnp_pkts"));
}

TEST(HwTable, DirectionsAreThoseOfThisHost) {
  EXPECT_EQ(exported_as(Driver::mlx5, "np_cnp_sent"), "rdma_port_cnp_packets_total{direction=\"tx\"}");
  EXPECT_EQ(exported_as(Driver::mlx5, "rnr_nak_retry_err"), "rdma_port_rnr_naks_total{direction=\"rx\"}");
  EXPECT_EQ(exported_as(Driver::mlx4, "rq_num_rnr"), "rdma_port_rnr_naks_total{direction=\"tx\"}");
  EXPECT_EQ(exported_as(Driver::mlx4, "sq_num_rnr"), "rdma_port_rnr_naks_total{direction=\"rx\"}");
  EXPECT_EQ(exported_as(Driver::mlx4, "sq_num_oos"), "rdma_port_sequence_naks_total{direction=\"rx\"}");
  EXPECT_EQ(exported_as(Driver::mlx4, "rq_num_oos"), "rdma_port_out_of_sequence_total{}");
  EXPECT_EQ(exported_as(Driver::rxe, "send_rnr_err"), "rdma_port_rnr_naks_total{direction=\"tx\"}");
  EXPECT_EQ(exported_as(Driver::irdma, "RNR received"), "rdma_port_rnr_naks_total{direction=\"rx\"}");
  EXPECT_EQ(exported_as(Driver::efa, "recv_wrs"),
            "rdma_port_requests_total{direction=\"rx\",operation=\"send\"}");
  EXPECT_EQ(exported_as(Driver::bnxt_re, "tx_read_req"),
            "rdma_port_requests_total{direction=\"tx\",operation=\"read\"}");
}

// What a driver calls received is "rx" and what it calls sent is "tx", in the tables of all drivers.
TEST(HwTable, DirectionIsTheOneInTheNameOfTheCounter) {
  const std::regex received(R"((^|[_ ])([rR]x)([_ ]|$)|^(ip[46]|iw)?In[A-Z]| received$)");
  const std::regex sent(R"((^|[_ ])([tT]x)([_ ]|$)|^(ip[46]|iw)?Out[A-Z]| sent$)");
  std::size_t directed = 0;
  for (int driver = 0; driver < kDrivers; ++driver) {
    for (const CounterRow& row : port_hw_rows(static_cast<Driver>(driver))) {
      // Directions are those of a responder's memory: rx is written, tx is read.
      if (row.labels.find("direction=") == std::string_view::npos || row.raw.starts_with("res_")) continue;
      const std::string raw(row.raw);
      const bool rx = std::regex_search(raw, received);
      if (!rx && !std::regex_search(raw, sent)) continue;
      ++directed;
      EXPECT_NE(row.labels.find(rx ? "direction=\"rx\"" : "direction=\"tx\""), std::string_view::npos) << raw;
    }
  }
  EXPECT_GT(directed, 60U);
}

TEST(HwTable, IrdmaTrafficIsTheSumOfBothIpVersions) {
  EXPECT_THAT(summed(Driver::irdma, kPortDataBytes, "direction=\"rx\""),
              ElementsAre("ip4InOctets", "ip6InOctets"));
  EXPECT_THAT(summed(Driver::irdma, kPortDataBytes, "direction=\"tx\""),
              ElementsAre("ip4OutOctets", "ip6OutOctets"));
  EXPECT_THAT(summed(Driver::irdma, kPortPackets, "direction=\"tx\""),
              ElementsAre("ip4OutPkts", "ip6OutPkts"));
}

TEST(HwTable, BnxtTrafficIsCountedOnce) {
  EXPECT_THAT(summed(Driver::bnxt_re, kPortDataBytes, "direction=\"rx\""), ElementsAre("rx_bytes"));
  EXPECT_THAT(summed(Driver::bnxt_re, kPortPackets, "direction=\"tx\""), ElementsAre("tx_pkts"));
  EXPECT_EQ(exported_as(Driver::bnxt_re, "rx_roce_only_bytes"), "raw");
  EXPECT_EQ(exported_as(Driver::bnxt_re, "rx_roce_good_bytes"), "raw");
}

TEST(HwTable, BnxtAccessErrorsOfTheResponderAreOneSum) {
  EXPECT_THAT(summed(Driver::bnxt_re, kPortAccessErrors, "side=\"responder\",kind=\"access\""),
              UnorderedElementsAre("res_rx_invalid_rkey", "res_rx_domain_err", "res_rx_no_perm",
                                   "res_rx_range_err", "res_tx_invalid_rkey", "res_tx_domain_err",
                                   "res_tx_no_perm", "res_tx_range_err", "res_invalid_dup_rkey"));
}

TEST(HwTable, RxeLinkDownedIsNotThePmaCounterOfThatName) {
  EXPECT_EQ(exported_as(Driver::rxe, "link_downed"), "raw");
  EXPECT_TRUE(summed(Driver::rxe, kPortLinkDowned, "").empty());
}

TEST(HwTable, FlushedCompletionsHaveAFamilyOfTheirOwn) {
  EXPECT_EQ(exported_as(Driver::mlx5, "req_cqe_error"), "rdma_port_cqe_errors_total{side=\"requester\"}");
  EXPECT_EQ(exported_as(Driver::mlx5, "req_cqe_flush_error"),
            "rdma_port_cqe_flush_errors_total{side=\"requester\"}");
}

TEST(HwTable, DriversWithoutTheirOwnTableAreAllRaw) {
  for (const Driver driver : {Driver::unknown, Driver::ionic, Driver::qib, Driver::qedr, Driver::siw}) {
    EXPECT_TRUE(port_hw_rows(driver).empty());
    EXPECT_TRUE(device_hw_rows(driver).empty());
  }
}

}  // namespace
}  // namespace rdma_exporter::collectors
