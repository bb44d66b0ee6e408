// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// What is exported of the objects that exist.
#include <gtest/gtest.h>
#include <rdma/rdma_netlink.h>

#include <cerrno>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "host/netlink/netlink_attr.h"
#include "tests/unit/collectors/resource/resource_fixture.h"
#include "tests/unit/support/netlink_mutation.h"

namespace rdma_exporter::collectors {
namespace {

using host::nldev::ResourceTable;
using test::Message;
using test::recorded_message;
using namespace std::chrono_literals;

TEST_F(ResourceTest, CountsObjectsAndTheirLimits) {
  const Page page = collect();
  EXPECT_EQ(page.at(R"(rdma_resource_objects{device="rxe0",type="qp"})"), 112);
  EXPECT_EQ(page.at(R"(rdma_resource_objects{device="rxe0",type="mr"})"), 12);
  EXPECT_EQ(page.at(R"(rdma_resource_objects{device="rxe0",type="srq"})"), 0);
  EXPECT_EQ(count(page, "rdma_resource_objects{"), 7U);
  EXPECT_EQ(page.at(R"(rdma_resource_objects_limit{device="rxe0",type="qp"})"), 1000);
  EXPECT_EQ(page.at(R"(rdma_resource_objects_limit{device="rxe0",type="cq"})"), 2000);
  EXPECT_EQ(count(page, "rdma_resource_objects_limit{"), 3U);  // 0: not said
}

// The recorded summary with each entry replaced by what `change` makes of it; an empty one is left out.
Message with_summary_entries(const std::function<Message(std::string_view type, Message entry)>& change) {
  const auto change_entry = [&](host::Bytes entry) {
    std::string_view type;
    host::for_each_attr(entry, [&](const host::Attr& attr) {
      if (attr.type == RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME) type = attr.text();
    });
    return change(type, Message(entry.begin(), entry.end()));
  };
  return test::with_entries(recorded_message("res_get_0.bin"), change_entry, RDMA_NLDEV_ATTR_RES_SUMMARY);
}

TEST_F(ResourceTest, PrefersTheLimitsOfTheKernel) {
  script_->answers[host::nldev::kResourceSummary] = {with_summary_entries([](auto type, Message entry) {
    constexpr std::uint16_t kEntryMax = 118;  // RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_MAX, after Linux 7.2
    const std::uint64_t limit = 4096;
    if (type == "qp") test::append_attr(entry, kEntryMax, std::as_bytes(std::span(&limit, 1)));
    return entry;
  })};
  const Page page = collect();
  EXPECT_EQ(page.at(R"(rdma_resource_objects_limit{device="rxe0",type="qp"})"), 4096);
  EXPECT_EQ(page.at(R"(rdma_resource_objects_limit{device="rxe0",type="cq"})"), 2000);
  EXPECT_EQ(count(page, "rdma_resource_objects_limit{"), 3U);
}

TEST_F(ResourceTest, CountsTheTypesThatTheKernelReportsNow) {
  collect();
  const auto only = [&](std::string_view wanted) {
    script_->answers[host::nldev::kResourceSummary] = {with_summary_entries(
        [wanted](auto type, Message entry) { return type == wanted ? std::move(entry) : Message(); })};
    return collect();
  };
  for (const char* type : {"pd", "mr"}) {
    const Page page = only(type);
    EXPECT_TRUE(page.contains(R"(rdma_resource_objects{device="rxe0",type=")" + std::string(type) + "\"}"));
    EXPECT_EQ(count(page, "rdma_resource_objects{"), 1U);
  }
}

TEST_F(ResourceTest, AsksForLimitsUntilTheyAreKnownAndThenNoMore) {
  verbs_->limits = core::os_error(EACCES);
  EXPECT_EQ(count(collect(), "rdma_resource_objects_limit{"), 0U);
  EXPECT_EQ(errors_.at("EACCES"), 1U);
  collect();
  EXPECT_EQ(verbs_->limit_queries, 1);
  EXPECT_TRUE(errors_.empty());
  verbs_->limits = host::DeviceLimits{.qps = 7};
  pass(301s);
  EXPECT_EQ(count(collect(), "rdma_resource_objects_limit{"), 1U);
  pass(3600s);
  collect();
  EXPECT_EQ(verbs_->limit_queries, 2);
}

TEST_F(ResourceTest, TellsWhichOptionalCountersCount) {
  EXPECT_EQ(count(collect(), "rdma_port_optional_counters_enabled"), 0U);
  script_->answers[host::nldev::kStatGetStatus] = {
      test::with_optional_counters({{"sent_pkts", true}, {"rcvd_pkts", false}})};
  pass(100s);
  const Page page = collect();
  EXPECT_EQ(page.at(R"(rdma_port_optional_counters_enabled{device="rxe0",port="1",counter="sent_pkts"})"), 1);
  EXPECT_EQ(page.at(R"(rdma_port_optional_counters_enabled{device="rxe0",port="1",counter="rcvd_pkts"})"), 0);
  EXPECT_EQ(count(page, "rdma_port_optional_counters_enabled"), 2U);
}

TEST_F(ResourceTest, DoesNotAskForOptionalCountersThatAreNotExported) {
  context_.metrics.set = core::MetricSet::lean;
  collect();
  EXPECT_EQ(script_->requests[host::nldev::kStatGetStatus], 0);
}

TEST_F(ResourceTest, SaysNothingOfADeviceThatNetlinkDenies) {
  script_->refusals[host::nldev::kResourceSummary] = EINVAL;
  EXPECT_TRUE(collect().empty());
  EXPECT_TRUE(errors_.empty());
  script_->refusals[host::nldev::kResourceSummary] = EIO;
  EXPECT_TRUE(collect().empty());
  EXPECT_EQ(errors_.at("EIO"), 1U);
}

TEST_F(ResourceTest, AddsUpTheTables) {
  const Page page = collect();
  EXPECT_EQ(page.at(R"(rdma_resource_qps{device="rxe0",port="1",qp_type="RC",state="RTS",space="user"})"),
            101);
  EXPECT_EQ(page.at(R"(rdma_resource_qps{device="rxe0",port="1",qp_type="RC",state="ERR",space="user"})"), 2);
  EXPECT_EQ(page.at(R"(rdma_resource_qps{device="rxe0",port="",qp_type="RC",state="RESET",space="user"})"),
            1);
  EXPECT_EQ(page.at(R"(rdma_resource_qps{device="rxe0",port="1",qp_type="GSI",state="RTS",space="kernel"})"),
            1);
  EXPECT_EQ(sum(page, "rdma_resource_qps{"), 112);
  EXPECT_EQ(page.at(R"(rdma_resource_mrs{device="rxe0",space="user"})"), 12);
  EXPECT_EQ(page.at(R"(rdma_resource_mr_bytes{device="rxe0",space="user"})"), 128832);
  EXPECT_EQ(page.at(R"(rdma_resource_mr_bytes{device="rxe0",space="kernel"})"), 0);
  EXPECT_EQ(sum(page, "rdma_resource_cqs{"), 10);
  EXPECT_EQ(sum(page, "rdma_resource_cq_entries{"), 2102);
  EXPECT_EQ(sum(page, "rdma_resource_cq_users{"), 224);
  EXPECT_EQ(page.at(R"(rdma_resource_cm_ids{device="rxe0",port_space="TCP",state="LISTEN"})"), 1);
  EXPECT_EQ(page.at(R"(rdma_resource_detail_enabled{device="rxe0",reason="auto"})"), 1);
  EXPECT_EQ(sum(page, "rdma_resource_dump_truncated{"), 0);
  EXPECT_EQ(count(page, "rdma_resource_dump_errors_total{"), 0U);
  // Seven tables, of which the summary says that one is empty.
  EXPECT_EQ(count(page, "rdma_resource_detail_age_seconds{"), 7U);
  EXPECT_EQ(script_->requests[host::nldev::resource_command(ResourceTable::srq)], 0);
}

TEST_F(ResourceTest, CountsAnObjectThatADumpRepeatsOnce) {
  answer(ResourceTable::qp, {"res_qp_0.bin", "res_qp_0.bin", "res_qp_1.bin", "res_qp_0.bin"});
  EXPECT_EQ(sum(collect(), "rdma_resource_qps{"), 112);
}

// Each port has queue pairs 0 and 1; any other number is that of one queue pair of the device.
TEST_F(ResourceTest, CountsTheSpecialQueuePairsOfEachPort) {
  answer(ResourceTable::qp, {"res_qp_0.bin", "res_qp_1.bin"});
  auto& parts = script_->answers[qp_dump()];
  parts.push_back(
      test::with_number<std::uint32_t>(parts[1], RDMA_NLDEV_ATTR_RES_QP, RDMA_NLDEV_ATTR_PORT_INDEX, 2));
  const Page page = collect();
  EXPECT_EQ(page.at(R"(rdma_resource_qps{device="rxe0",port="2",qp_type="GSI",state="RTS",space="kernel"})"),
            1);
  EXPECT_EQ(sum(page, "rdma_resource_qps{", R"(port="2",qp_type="RC")"), 0);
  EXPECT_EQ(sum(page, "rdma_resource_qps{", R"(port="1")"), 111);
}

// Implicit on-demand paging registers all there could be (ib_reg_mr with length ~0).
TEST_F(ResourceTest, TakesNoRegionOfTheWholeAddressSpaceForMemory) {
  script_->answers[host::nldev::resource_command(ResourceTable::mr)] = {
      test::with_number(recorded_message("res_mr_0.bin"), RDMA_NLDEV_ATTR_RES_MR, RDMA_NLDEV_ATTR_RES_MRLEN,
                        ~std::uint64_t{0})};
  const Page page = collect();
  EXPECT_EQ(page.at(R"(rdma_resource_mrs{device="rxe0",space="user"})"), 12);
  EXPECT_EQ(page.at(R"(rdma_resource_mr_bytes{device="rxe0",space="user"})"), 0);
}

TEST_F(ResourceTest, AddsUpSetsOfQueuePairsByType) {
  // A set made by hand has the type of its first queue pair.
  std::uint32_t ud = 0;
  for (const char* part : {"res_qp_0.bin", "res_qp_1.bin"}) {
    const Message qps = recorded_message(part);
    EXPECT_TRUE(host::nldev::parse_resources(qps, ResourceTable::qp, [&](const host::nldev::Resource& qp) {
                  if (qp.type == 4) ud = qp.id;
                }).has_value());
  }
  const auto sets = [&](std::uint32_t first) {
    return test::qp_statistics_message({{first, std::nullopt, {ud}}, {18, 4, {1000, 1001}}, {19, 2, {}}});
  };
  script_->answers[host::nldev::kStatGet] = {sets(17)};
  Page page = collect();
  const std::string udp =
      R"(rdma_resource_qp_statistic_total{device="rxe0",port="1",qp_type="UD",counter="sent_pkts"})";
  EXPECT_EQ(page.at(udp), 1000);
  EXPECT_EQ(
      page.at(R"(rdma_resource_qp_statistic_total{device="rxe0",port="1",qp_type="RC",counter="sent_pkts"})"),
      500);
  EXPECT_EQ(page.at(R"(rdma_resource_qp_statistic_qps{device="rxe0",port="1",qp_type="UD"})"), 3);
  // The first set is dissolved and another one made: what was counted stays.
  script_->answers[host::nldev::kStatGet] = {sets(20)};
  pass(61s);
  EXPECT_EQ(collect().at(udp), 1500);
  reload();
  EXPECT_EQ(collect().at(udp), 1500) << "sums outlive a configuration";
}

TEST_F(ResourceTest, AsksForOnDemandPagingOnlyWhereThereIsSome) {
  EXPECT_EQ(count(collect(), "rdma_resource_odp_statistic_total"), 0U);
  EXPECT_EQ(script_->requests[host::nldev::kStatGet], 1);  // the sets of queue pairs
  script_->answers[host::nldev::resource_command(ResourceTable::mr)] = {
      test::with_on_demand_paging(recorded_message("res_mr_0.bin"))};
  script_->answers[host::nldev::kStatGet] = {test::mr_statistics_message({{1, true}, {2, false}, {3, true}})};
  pass(61s);
  const Page page = collect();
  EXPECT_EQ(page.at(R"(rdma_resource_odp_statistic_total{device="rxe0",event="sent_pkts"})"), 1000);
  EXPECT_EQ(count(page, "rdma_resource_qp_statistic_total"), 0U);
}

}  // namespace
}  // namespace rdma_exporter::collectors
