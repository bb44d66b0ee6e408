// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Whose the objects are. The recorded memory regions are of nine processes; the first has 100000 bytes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <set>
#include <string>

#include "tests/unit/collectors/resource/resource_fixture.h"

namespace rdma_exporter::collectors {
namespace {

using host::nldev::ResourceTable;
using test::Message;
using test::recorded_message;

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

}  // namespace
}  // namespace rdma_exporter::collectors
