// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Uses answers recorded from a kernel (tests/unit/data/netlink/ORIGIN.md): 110 queue pairs of rxe0 and their
// other objects. The expected numbers are those of rdma_resource_show.json.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "host/netlink/nldev/resource.h"
#include "host/netlink/nldev/statistic.h"
#include "tests/unit/collectors/collector_fixture.h"
#include "tests/unit/support/scripted_background.h"
#include "tests/unit/support/statistic_messages.h"

namespace rdma_exporter::collectors {
namespace {

using host::nldev::ResourceTable;
using test::Message;
using test::recorded_message;
using namespace std::chrono_literals;

class ResourceTest : public CollectorFixture {
 protected:
  ResourceTest() : CollectorFixture(resource_spec) {
    add_port("rxe0");
    answer_netlink();
    script_->answers[host::nldev::kStatGet].clear();  // no sets of queue pairs
    script_->answers[host::nldev::kResourceSummary] = {recorded_message("res_get_0.bin")};
    script_->answers[host::nldev::kStatGetStatus] = {recorded_message("stat_get_status_0.bin")};
    answer(ResourceTable::qp, {"res_qp_0.bin", "res_qp_1.bin"});
    answer(ResourceTable::mr, {"res_mr_0.bin"});
    answer(ResourceTable::cq, {"res_cq_0.bin"});
    answer(ResourceTable::ctx, {"res_ctx_0.bin"});
    // The summary is that of rxe0, the connection ids are those of rxe1: here rxe0 has them.
    answer(ResourceTable::cm_id, {"res_cm_id_0.bin"});
    host_.procfs = host::make_host_fs(proc_.root());
    host_.resource_dumps_safe = true;
    context_.background = &background_;
    verbs_->limits = host::DeviceLimits{.qps = 1000, .cqs = 2000, .mrs = 3000, .pds = 0, .srqs = 0};
  }

  void answer(ResourceTable table, const std::vector<std::string>& files) const {
    auto& messages = script_->answers[host::nldev::resource_command(table)];
    messages.clear();
    for (const std::string& file : files) messages.push_back(recorded_message(file));
  }
  std::uint16_t qp_dump() const { return host::nldev::resource_command(ResourceTable::qp); }

  static double sum(const Page& page, const std::string& start, const std::string& with = {}) {
    double total = 0;
    for (const auto& [series, value] : page)
      if (series.starts_with(start) && series.find(with) != std::string::npos) total += value;
    return total;
  }
  static std::size_t count(const Page& page, const std::string& start) {
    return static_cast<std::size_t>(std::count_if(
        page.begin(), page.end(), [&](const auto& entry) { return entry.first.starts_with(start); }));
  }

  test::TempTree proc_;
  test::ScriptedBackground background_;
};

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

TEST_F(ResourceTest, DumpsWhenItIsDueAndServesTheLastResultMeanwhile) {
  background_.at_once = false;
  Page page = collect();
  EXPECT_EQ(page.at(R"(rdma_resource_objects{device="rxe0",type="qp"})"), 112);
  EXPECT_EQ(count(page, "rdma_resource_qps{"), 0U);
  collect();
  EXPECT_EQ(background_.started, 1);  // one at a time, however long it takes
  EXPECT_EQ(background_.tended, 1);
  background_.run();
  page = collect();
  EXPECT_EQ(sum(page, "rdma_resource_qps{"), 112);
  EXPECT_EQ(background_.started, 1);
  pass(61s);
  page = collect();
  EXPECT_EQ(background_.started, 2);
  EXPECT_EQ(sum(page, "rdma_resource_qps{"), 112);
}

TEST_F(ResourceTest, KeepsAResultWhenALaterDumpFails) {
  collect();
  answer(ResourceTable::qp, {"res_qp_0.bin"});
  script_->refusals[qp_dump()] = EINVAL;  // the device went in the middle of the dump
  pass(61s);
  Page page = collect();
  EXPECT_EQ(sum(page, "rdma_resource_qps{"), 112);
  EXPECT_EQ(page.at(R"(rdma_resource_dump_errors_total{device="rxe0",table="qp",reason="EINVAL"})"), 1);
  EXPECT_EQ(sum(page, "rdma_resource_mrs{"), 12);
  EXPECT_GT(sum(page, "rdma_resource_detail_age_seconds{", R"(table="qp")"),
            sum(page, "rdma_resource_detail_age_seconds{", R"(table="mr")"));
  for (const int refusal : {EMSGSIZE, EINTR, ETIMEDOUT}) {
    script_->refusals[qp_dump()] = refusal;
    pass(61s);
    page = collect();
    EXPECT_EQ(sum(page, "rdma_resource_qps{"), 112);
  }
  EXPECT_EQ(sum(page, "rdma_resource_dump_errors_total{"), 4);

  script_->refusals.erase(qp_dump());
  Message cut = recorded_message("res_qp_0.bin");
  cut.resize(cut.size() - 30);
  script_->answers[qp_dump()] = {cut};
  pass(61s);
  page = collect();
  EXPECT_EQ(page.at(R"(rdma_resource_dump_errors_total{device="rxe0",table="qp",reason="parse"})"), 1);
  EXPECT_EQ(sum(page, "rdma_resource_qps{"), 112);
}

TEST_F(ResourceTest, HasNothingToServeWhenTheFirstDumpFails) {
  script_->refusals[qp_dump()] = EIO;
  const Page page = collect();
  EXPECT_EQ(count(page, "rdma_resource_qps{"), 0U);
  EXPECT_EQ(count(page, "rdma_resource_owner_qps{"), 0U);
  EXPECT_GT(count(page, "rdma_resource_mrs{"), 0U);
}

TEST_F(ResourceTest, EndsADumpWithoutEnd) {
  Message empty;
  host::for_each_attr(recorded_message("res_qp_0.bin"), [&](const host::Attr& attr) {
    test::append_attr(empty, attr.type, attr.type == RDMA_NLDEV_ATTR_RES_QP ? host::Bytes() : attr.data);
  });
  script_->answers[qp_dump()].assign(100'000, empty);
  const Page page = collect();
  EXPECT_EQ(page.at(R"(rdma_resource_dump_errors_total{device="rxe0",table="qp",reason="stalled"})"), 1);
  EXPECT_EQ(count(page, "rdma_resource_qps{"), 0U);
}

TEST_F(ResourceTest, DoesNotAskForMoreThanItsLimits) {
  context_.resource.max_qps = 111;
  context_.resource.max_entries = 11;
  const Page page = collect();
  EXPECT_EQ(page.at(R"(rdma_resource_dump_truncated{device="rxe0",table="qp",reason="max_qps"})"), 1);
  EXPECT_EQ(page.at(R"(rdma_resource_dump_truncated{device="rxe0",table="mr",reason="max_entries"})"), 1);
  EXPECT_EQ(page.at(R"(rdma_resource_dump_truncated{device="rxe0",table="cq",reason=""})"), 0);
  EXPECT_EQ(script_->requests[qp_dump()], 0);
  EXPECT_EQ(count(page, "rdma_resource_qps{"), 0U);
  EXPECT_EQ(count(page, "rdma_resource_mrs{"), 0U);
  EXPECT_EQ(sum(page, "rdma_resource_cqs{"), 10);
}

TEST_F(ResourceTest, ServesNoPartOfATable) {
  context_.resource.timeout = 0ms;
  const Page page = collect();
  EXPECT_EQ(page.at(R"(rdma_resource_dump_truncated{device="rxe0",table="qp",reason="timeout"})"), 1);
  EXPECT_EQ(count(page, "rdma_resource_qps{"), 0U);
}

TEST_F(ResourceTest, DumpsNothingOnAKernelThatMayCrashOnIt) {
  host_.resource_dumps_safe = false;
  const Page page = collect();
  EXPECT_EQ(page.at(R"(rdma_resource_detail_enabled{device="rxe0",reason="kernel"})"), 0);
  EXPECT_EQ(background_.started, 0);
  EXPECT_EQ(script_->requests[qp_dump()], 0);
  EXPECT_EQ(count(page, "rdma_resource_objects{"), 7U);
}

TEST_F(ResourceTest, DumpsNothingWithACoreThatIsNotTheKernels) {
  tree_.write("module/ib_core/taint", "OE\n");
  EXPECT_EQ(collect().at(R"(rdma_resource_detail_enabled{device="rxe0",reason="ib_core"})"), 0);
  EXPECT_EQ(background_.started, 0);
}

TEST_F(ResourceTest, TakesTheCoreOfTheKernelForWhatItIs) {
  tree_.write("module/ib_core/taint", "\n");
  EXPECT_EQ(collect().at(R"(rdma_resource_detail_enabled{device="rxe0",reason="auto"})"), 1);
}

TEST_F(ResourceTest, DumpsWhenItIsTold) {
  host_.resource_dumps_safe = false;
  context_.resource.detail = ResourceSettings::Detail::on;
  EXPECT_EQ(collect().at(R"(rdma_resource_detail_enabled{device="rxe0",reason="on"})"), 1);
  EXPECT_EQ(background_.started, 1);
}

TEST_F(ResourceTest, DumpsNothingWhenItIsOff) {
  context_.resource.detail = ResourceSettings::Detail::off;
  EXPECT_EQ(collect().at(R"(rdma_resource_detail_enabled{device="rxe0",reason="off"})"), 0);
  EXPECT_EQ(background_.started, 0);
}

// ---- owners. The recorded memory regions are of nine processes; the first has 100000 bytes.

class ResourceOwnersTest : public ResourceTest {
 protected:
  ResourceOwnersTest() {
    std::size_t n = 0;
    const Message mrs = recorded_message("res_mr_0.bin");
    const Message contexts = recorded_message("res_ctx_0.bin");
    EXPECT_TRUE(host::nldev::parse_resources(mrs, ResourceTable::mr, [&](const host::nldev::Resource& mr) {
                  if (n++ == 0) largest_ = *mr.pid;
                  pids_.insert(*mr.pid);
                }).has_value());
    // rping's context was opened by a thread that is not the one that made the rest.
    EXPECT_TRUE(
        host::nldev::parse_resources(contexts, ResourceTable::ctx, [&](const host::nldev::Resource& ctx) {
          pids_.insert(*ctx.pid);
        }).has_value());
    for (const std::uint32_t pid : pids_) {
      proc_.write(std::to_string(pid) + "/comm", "qpactor\n");
      proc_.write(std::to_string(pid) + "/cgroup", "0::/system.slice/slurmstepd.scope/job_7/step_0\n");
    }
    proc_.write(
        std::to_string(largest_) + "/cgroup",
        "0::/kubepods/burstable/pod40934a46-d409-4f4a-bb8b-1ec0b0436320/" + std::string(64, 'a') + "\n");
  }

  std::string pod(const std::string& metric) const {
    return metric +
           R"({device="rxe0",owner_kind="pod",owner="40934a46-d409-4f4a-bb8b-1ec0b0436320",container=")" +
           std::string(64, 'a') + R"("})";
  }

  std::uint32_t largest_ = 0;
  std::set<std::uint32_t> pids_;
};

TEST_F(ResourceOwnersTest, AreWhatTheirCgroupSays) {
  const Page page = collect();
  EXPECT_EQ(page.at(pod("rdma_resource_owner_mr_bytes")), 100000);
  EXPECT_EQ(page.at(pod("rdma_resource_owner_qps")), 100);
  EXPECT_EQ(page.at(pod("rdma_resource_owner_contexts")), 1);
  const std::string job = R"({device="rxe0",owner_kind="slurm_job",owner="7",container=""})";
  EXPECT_EQ(page.at("rdma_resource_owner_mr_bytes" + job), 28832);
  EXPECT_EQ(page.at("rdma_resource_owner_qps" + job), 11);
  EXPECT_EQ(
      page.at(R"(rdma_resource_owner_qps{device="rxe0",owner_kind="kernel",owner="ib_core",container=""})"),
      1);
  EXPECT_EQ(sum(page, "rdma_resource_owner_mr_bytes{"), 128832);
  EXPECT_EQ(sum(page, "rdma_resource_objects_unattributed{"), 0);
}

TEST_F(ResourceOwnersTest, AreProcessesOnRequestAndWhereCgroupsSayNothing) {
  context_.resource.owners = ResourceSettings::Owners::process;
  EXPECT_EQ(
      collect().at(
          R"(rdma_resource_owner_mrs{device="rxe0",owner_kind="process",owner="qpactor",container=""})"),
      12);
}

TEST_F(ResourceOwnersTest, InTheRootGroupAreProcesses) {
  proc_.write(std::to_string(largest_) + "/cgroup", "0::/\n");
  EXPECT_EQ(
      collect().at(
          R"(rdma_resource_owner_qps{device="rxe0",owner_kind="process",owner="qpactor",container=""})"),
      100);
}

TEST_F(ResourceOwnersTest, AreNobodyOnRequest) {
  context_.resource.owners = ResourceSettings::Owners::none;
  const Page page = collect();
  EXPECT_EQ(count(page, "rdma_resource_owner_"), 0U);
  EXPECT_EQ(count(page, "rdma_resource_objects_unattributed"), 0U);
}

TEST_F(ResourceOwnersTest, ThatAreGoneAreCounted) {
  proc_.remove(std::to_string(largest_));
  const Page page = collect();
  EXPECT_EQ(
      page.at(R"(rdma_resource_owner_mr_bytes{device="rxe0",owner_kind="unknown",owner="",container=""})"),
      100000);
  // 100 queue pairs, a region, a completion queue, a context
  EXPECT_EQ(page.at(R"(rdma_resource_objects_unattributed{device="rxe0",reason="gone"})"), 103);
}

TEST_F(ResourceOwnersTest, BeyondTheLargestAreOneSeries) {
  context_.resource.owners_top = 1;
  const Page page = collect();
  EXPECT_EQ(page.at(pod("rdma_resource_owner_mr_bytes")), 100000);
  EXPECT_EQ(
      page.at(R"(rdma_resource_owner_mr_bytes{device="rxe0",owner_kind="other",owner="",container=""})"),
      28832);
  EXPECT_EQ(count(page, "rdma_resource_owner_mr_bytes{"), 2U);
}

TEST_F(ResourceOwnersTest, AreOurselvesWhenAThreadOfOursMadeThem) {
  proc_.write(std::to_string(::getpid()) + "/task/" + std::to_string(largest_) + "/comm", "rdma_exporter\n");
  EXPECT_EQ(
      collect().at(
          R"(rdma_resource_owner_qps{device="rxe0",owner_kind="self",owner="rdma_exporter",container=""})"),
      100);
}

// ---- statistics of single objects

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
