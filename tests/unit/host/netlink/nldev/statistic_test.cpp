// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// STAT_GET_STATUS is recorded (tests/unit/data/netlink/ORIGIN.md). Soft-RoCE has neither sets of queue pairs
// nor on-demand paging: these messages contain the counters of a recorded STAT_GET in the nests of
// core/nldev.c fill_res_counter_entry() and fill_stat_mr_entry().
#include "host/netlink/nldev/statistic.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/unit/support/statistic_messages.h"

namespace rdma_exporter::host::nldev {
namespace {

using test::Message;

std::map<std::string, std::optional<bool>> status(const Message& message) {
  std::map<std::string, std::optional<bool>> all;
  EXPECT_TRUE(parse_counter_status(message, [&](const CounterStatus& counter) {
                all.emplace(counter.name, counter.enabled);
              }).has_value());
  return all;
}

TEST(ParseCounterStatus, KnowsDefaultCounters) {
  const auto all = status(test::recorded_message("stat_get_status_0.bin"));
  EXPECT_EQ(all.size(), 15U);
  for (const auto& [name, enabled] : all) EXPECT_FALSE(enabled.has_value()) << name;
  EXPECT_TRUE(all.contains("duplicate_request"));
}

TEST(ParseCounterStatus, KnowsOptionalOnes) {
  const auto all = status(test::with_optional_counters({{"sent_pkts", true}, {"rcvd_pkts", false}}));
  EXPECT_EQ(all.size(), 15U);
  EXPECT_EQ(all.at("sent_pkts"), true);
  EXPECT_EQ(all.at("rcvd_pkts"), false);
  EXPECT_FALSE(all.at("link_downed").has_value());
}

TEST(ParseQpStatistics, ReadsSetsMadeByHandAndByType) {
  std::vector<QpStatistic> sets;
  std::vector<std::map<std::string, std::uint64_t>> values;
  const Message message = test::qp_statistics_message({{17, std::nullopt, {20, 21, 22}}, {18, 4, {}}});
  ASSERT_TRUE(parse_qp_statistics(message, [&](const QpStatistic& set) {
                sets.push_back(set);
                values.emplace_back(set.values.begin(), set.values.end());
              }).has_value());
  ASSERT_EQ(sets.size(), 2U);
  EXPECT_EQ(sets[0].id, 17U);
  EXPECT_EQ(sets[0].port, 1U);
  EXPECT_FALSE(sets[0].qp_type.has_value());
  EXPECT_EQ(sets[0].first_qp, 20U);
  EXPECT_EQ(sets[0].qps, 3U);
  EXPECT_EQ(values[0].at("sent_pkts"), 500U);
  EXPECT_EQ(sets[1].qp_type, 4);
  EXPECT_FALSE(sets[1].first_qp.has_value());
  EXPECT_EQ(sets[1].qps, 0U);
}

TEST(ParseMrStatistics, ReadsRegionsWithAndWithoutCounters) {
  std::map<std::uint32_t, std::size_t> regions;
  ASSERT_TRUE(
      parse_mr_statistics(test::mr_statistics_message({{5, true}, {6, false}}), [&](const MrStatistic& mr) {
        regions.emplace(mr.id, mr.values.size());
      }).has_value());
  EXPECT_EQ(regions, (std::map<std::uint32_t, std::size_t>{{5, 15}, {6, 0}}));
}

TEST(StatisticParsers, SurviveTruncationAndChangedBytes) {
  const auto parse_all = [](const Message& message) {
    (void)parse_counter_status(message,
                               [](const CounterStatus& counter) { EXPECT_FALSE(counter.name.empty()); });
    (void)parse_qp_statistics(message, [](const QpStatistic& set) { EXPECT_LE(set.values.size(), 15U); });
    (void)parse_mr_statistics(message, [](const MrStatistic& mr) { EXPECT_LE(mr.values.size(), 15U); });
  };
  for (const Message& original : {test::recorded_message("stat_get_status_0.bin"),
                                  test::qp_statistics_message({{17, std::nullopt, {20, 21}}}),
                                  test::mr_statistics_message({{5, true}, {6, false}})}) {
    for (std::size_t at = 0; at < original.size(); ++at) {
      parse_all(Message(original.begin(), original.begin() + static_cast<std::ptrdiff_t>(at)));
      for (const unsigned value : {0x00U, 0x01U, 0xffU}) {
        Message message = original;
        message[at] = static_cast<std::byte>(value);
        parse_all(message);
      }
    }
  }
}

TEST(StatisticRequest, NamesTheDeviceAndTheResource) {
  EXPECT_EQ(statistic_request(3, StatisticOf::qp).size(), 16U);
  EXPECT_NE(statistic_request(3, StatisticOf::qp), statistic_request(3, StatisticOf::mr));
}

}  // namespace
}  // namespace rdma_exporter::host::nldev
