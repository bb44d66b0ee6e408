// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// When tables are dumped, and what becomes of a dump that fails.
#include <gtest/gtest.h>

#include <cerrno>

#include "tests/unit/collectors/resource/resource_fixture.h"

namespace rdma_exporter::collectors {
namespace {

using host::nldev::ResourceTable;
using test::Message;
using test::recorded_message;
using namespace std::chrono_literals;

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

TEST_F(ResourceTest, DumpsNothingOnAKernelThatMayCrashOnItAndSaysSoOnce) {
  host_.resource_dumps_safe = false;
  ::testing::internal::CaptureStderr();
  const Page page = collect();
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("owners and queue pair states are off"), std::string::npos) << log;
  EXPECT_NE(log.find("--collector.resource.detail=on turns them on"), std::string::npos) << log;
  ::testing::internal::CaptureStderr();
  collect();
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
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

}  // namespace
}  // namespace rdma_exporter::collectors
