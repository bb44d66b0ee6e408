// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/stats/registry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>

#include "core/labels.h"

namespace rdma_exporter::probe {
namespace {

using namespace std::chrono_literals;

class ProbeRegistry : public testing::Test {
 protected:
  ProbeRegistry() {
    stats->use({.rtt = {histogram, nullptr, echoes}, .responder_delay = delay, .connect = {}});
    contents.active = true;
    contents.series.push_back({"mlx5_0", 1, "gpu-17", 0, stats});
    contents.rtts.push_back({"mlx5_0", 1, "gpu-17", "pod1", {{histogram, nullptr, echoes}, nullptr, {}}});
    for (auto& step : connect) step = std::make_shared<core::Histogram>(kConnectBounds);
  }

  void collect() {
    registry.publish(contents);
    batch.clear();
    registry.add(batch);
  }
  std::optional<double> value(const std::string& name, const std::string& label = "") {
    for (const core::Sample& sample : batch.samples()) {
      if (sample.metric->name != name || sample.labels().find(label) == std::string::npos) continue;
      if (sample.metric->type == core::MetricType::histogram)
        return static_cast<double>(sample.histogram->count());
      return sample.is_real ? sample.real : static_cast<double>(sample.integer);
    }
    return std::nullopt;
  }
  void succeed(Op op, std::chrono::nanoseconds rtt) {
    stats->attempt(op);
    stats->success(op, {.rtt = rtt, .peer_delay = {}, .slept = false});
  }

  std::shared_ptr<TargetStats> stats = std::make_shared<TargetStats>();
  std::shared_ptr<core::Histogram> histogram = std::make_shared<core::Histogram>(kRttBounds);
  std::shared_ptr<core::Histogram> echoes = std::make_shared<core::Histogram>(kRttBounds);
  std::shared_ptr<core::Histogram> delay = std::make_shared<core::Histogram>(kRttBounds);
  std::array<std::shared_ptr<core::Histogram>, kConnectSteps.size()> connect;
  Registry::Contents contents;
  Registry registry;
  core::SampleBatch batch;
};

TEST_F(ProbeRegistry, IsSilentUntilConfigured) {
  registry.add(batch);
  EXPECT_EQ(batch.size(), 0U);
}

TEST_F(ProbeRegistry, ShowsWhatWorked) {
  succeed(Op::write, 2us);
  succeed(Op::write, 3us);
  collect();
  EXPECT_EQ(value("rdma_probe_attempts_total", "op=\"write\""), 2);
  EXPECT_EQ(value("rdma_probe_failures_total", "reason=\"retry_exc_err\""), 0)
      << "a first failure must be an increase";
  EXPECT_EQ(value("rdma_probe_up"), 1);
  EXPECT_DOUBLE_EQ(*value("rdma_probe_last_rtt_seconds"), 3e-6);
  EXPECT_DOUBLE_EQ(*value("rdma_probe_min_rtt_seconds"), 2e-6);
  EXPECT_EQ(value("rdma_probe_rtt_seconds", "op=\"write\""), 2);
}

TEST_F(ProbeRegistry, CountsAttemptsAndFailuresWhileThePathIsDown) {
  for (int i = 0; i < 5; ++i) {
    stats->attempt(Op::write);
    stats->failure(Op::write, {Stage::modify, "ETIMEDOUT"});
  }
  collect();
  EXPECT_EQ(value("rdma_probe_attempts_total"), 5);
  EXPECT_EQ(value("rdma_probe_failures_total", "stage=\"modify\",reason=\"ETIMEDOUT\""), 5);
  EXPECT_EQ(value("rdma_probe_up"), 0);
  EXPECT_EQ(value("rdma_probe_last_rtt_seconds"), std::nullopt) << "absent is absent";
}

TEST_F(ProbeRegistry, CountsWhatTheControlConnectionDidApartFromThePath) {
  stats->unsent(Op::write, {Stage::tcp, "ECONNREFUSED"});
  stats->unsent(Op::echo, {Stage::tcp, "ECONNREFUSED"});
  collect();
  EXPECT_EQ(value("rdma_probe_control_failures_total", "stage=\"tcp\",reason=\"ECONNREFUSED\""), 2);
  EXPECT_EQ(value("rdma_probe_failures_total"), std::nullopt);
  EXPECT_EQ(value("rdma_probe_up"), 0) << "nothing gets through";
  succeed(Op::write, 2us);
  stats->interrupted({Stage::tcp, kDeadline});
  collect();
  EXPECT_EQ(value("rdma_probe_control_failures_total", "reason=\"deadline\""), 1);
  EXPECT_EQ(value("rdma_probe_up"), 1) << "operations go on";
}

TEST_F(ProbeRegistry, GoesByTheOperationInUse) {
  succeed(Op::write, 2us);
  stats->attempt(Op::write);
  stats->failure(Op::write, {Stage::op, "general_err"});
  collect();
  EXPECT_EQ(value("rdma_probe_up"), 0);
  succeed(Op::read, 2us);  // that the session has fallen back to
  collect();
  EXPECT_EQ(value("rdma_probe_up"), 1);
  stats->attempt(Op::echo);
  stats->failure(Op::echo, {Stage::echo, kDeadline});
  collect();
  EXPECT_EQ(value("rdma_probe_up"), 1) << "the far host hangs, and the path works";
  stats->only_echoes();
  stats->attempt(Op::echo);
  stats->failure(Op::echo, {Stage::echo, kDeadline});
  collect();
  EXPECT_EQ(value("rdma_probe_up"), 0);
}

TEST_F(ProbeRegistry, CountsWhatTheFirstMessageAfterAPauseSees) {
  TargetStats::Histograms cold{.rtt = {histogram, nullptr, echoes}, .responder_delay = {}, .connect = {}};
  cold.cold = delay;
  stats->use(cold);
  contents.rtts.push_back({"mlx5_0", 1, "", "pod1", cold});
  for (int i = 0; i < 20; ++i) {
    stats->warmed_up(Op::write, {.rtt = 30us, .peer_delay = {}});
    succeed(Op::write, 3us);
  }
  stats->warmed_up(Op::write, {.rtt = 67ms, .peer_delay = {}});  // lost, and sent again
  collect();
  EXPECT_EQ(value("rdma_probe_cold_rtt_seconds"), 21);
  EXPECT_EQ(value("rdma_probe_rtt_seconds", "op=\"write\""), 20);
  EXPECT_EQ(value("rdma_probe_retransmit_suspected_total", "op=\"write\""), 1);
}

TEST_F(ProbeRegistry, TellsFlowsApart) {
  const auto other = std::make_shared<TargetStats>();
  contents.series.push_back({"mlx5_0", 1, "gpu-17", 1, other});
  succeed(Op::write, 2us);
  other->attempt(Op::write);
  other->failure(Op::write, {Stage::op, "retry_exc_err"});
  collect();
  EXPECT_EQ(value("rdma_probe_up", "flow=\"0\""), 1);
  EXPECT_EQ(value("rdma_probe_up", "flow=\"1\""), 0) << "one path of several, and it has a name";
}

TEST_F(ProbeRegistry, MarksWhatAPreemptedThreadMeasured) {
  stats->attempt(Op::write);
  stats->success(Op::write, {.rtt = 900us, .peer_delay = {}, .preempted = true});
  collect();
  EXPECT_EQ(value("rdma_probe_samples_total", "wait=\"preempted\""), 1);
  EXPECT_EQ(value("rdma_probe_samples_total", "wait=\"spin\""), 0);
}

TEST_F(ProbeRegistry, SuspectsARetransmissionFarFromTheUsual) {
  for (int i = 0; i < 20; ++i) succeed(Op::write, 100us);
  succeed(Op::write, 1900us);
  succeed(Op::write, 67ms);
  collect();
  EXPECT_EQ(value("rdma_probe_retransmit_suspected_total"), 1);
}

TEST_F(ProbeRegistry, SeparatesTheHostFromTheNetwork) {
  for (int i = 0; i < 50; ++i) {
    succeed(Op::write, 10us);
    succeed(Op::echo, 50us);
  }
  collect();
  EXPECT_NEAR(*value("rdma_probe_host_delay_seconds"), 40e-6, 1e-6);
}

TEST_F(ProbeRegistry, KeepsWhatTwoClocksSayApart) {
  TargetStats::Histograms both{
      .rtt = {nullptr, histogram, nullptr}, .responder_delay = {}, .nic_read = delay};
  stats->use(both);
  contents.rtts = {{"mlx5_0", 1, "gpu-17", "pod1", both}};
  collect();
  EXPECT_EQ(value("rdma_probe_rtt_seconds"), std::nullopt) << "no read, no clock";
  stats->success(Op::read, {.rtt = 2us, .peer_delay = {}, .clock = RttClock::nic});
  collect();
  EXPECT_EQ(value("rdma_probe_rtt_seconds", R"(op="read",clock="nic")"), 1);
  EXPECT_EQ(value("rdma_probe_rtt_seconds", R"(clock="host")"), std::nullopt);
  succeed(Op::read, 3us);
  collect();
  EXPECT_EQ(value("rdma_probe_rtt_seconds", R"(op="read",clock="nic")"), 1);
  EXPECT_EQ(value("rdma_probe_rtt_seconds", R"(op="read",clock="host")"), 1);
}

TEST_F(ProbeRegistry, ForgetsARemovedTargetAtOnce) {
  succeed(Op::write, 2us);
  collect();
  ASSERT_TRUE(value("rdma_probe_attempts_total"));
  contents.series.clear();
  contents.rtts.clear();
  collect();
  for (const core::Sample& sample : batch.samples())
    EXPECT_EQ(sample.labels().find("gpu-17"), std::string::npos) << sample.metric->name;
}

TEST_F(ProbeRegistry, SaysWhereATargetIsAsFarAsDiscoveryKnows) {
  collect();
  EXPECT_EQ(value("rdma_probe_target_info"), std::nullopt);
  contents.places.push_back({"mlx5_0", 1, "gpu-17", "pod1", "leaf7", ""});
  collect();
  EXPECT_EQ(value("rdma_probe_target_info",
                  R"(device="mlx5_0",port="1",target="gpu-17",target_group="pod1",target_leaf="leaf7")"),
            1);
}

TEST_F(ProbeRegistry, CountsRotatingTargetsTogetherAndSaysNothingElseOfThem) {
  auto sum = std::make_shared<TargetStats>();
  stats->add_to(sum);
  auto other = std::make_shared<TargetStats>();
  other->add_to(sum);
  contents.series = {{"mlx5_0", 1, "", 0, sum}};
  contents.rtts.clear();
  for (int i = 0; i < 20; ++i) succeed(Op::write, 100us);
  succeed(Op::write, 3ms);
  other->attempt(Op::write);
  other->failure(Op::write, {Stage::op, "retry_exc_err"});
  other->count_connect();
  collect();
  EXPECT_EQ(value("rdma_probe_attempts_total", "target=\"\""), 22);
  EXPECT_EQ(value("rdma_probe_failures_total", "reason=\"retry_exc_err\""), 1);
  EXPECT_EQ(value("rdma_probe_retransmit_suspected_total"), 1);
  EXPECT_EQ(value("rdma_probe_samples_total", "wait=\"spin\""), 21);
  EXPECT_EQ(value("rdma_probe_connects_total"), 1);
  for (const char* of_one : {"rdma_probe_up", "rdma_probe_last_rtt_seconds", "rdma_probe_min_rtt_seconds",
                             "rdma_probe_last_success_timestamp_seconds"})
    EXPECT_EQ(value(of_one), std::nullopt) << of_one;
}

TEST_F(ProbeRegistry, TellsWhatConnectionsTookByStepForEachGroup) {
  stats->use({.rtt = {}, .responder_delay = nullptr, .connect = connect});
  contents.rtts.push_back({"mlx5_0", 1, "", "pod1", {{}, nullptr, connect}});
  stats->connected({1ms, 3ms, 10ms, 2100ms});
  collect();
  EXPECT_DOUBLE_EQ(connect[3]->data().sum, 2.1);
  EXPECT_EQ(value("rdma_probe_connect_seconds", "target_group=\"pod1\",step=\"modify\""), 1);
  EXPECT_EQ(value("rdma_probe_connect_seconds", "target=\"gpu-17\""), std::nullopt);
}

TEST_F(ProbeRegistry, CountsEventsThatNobodyElseIsToldOf) {
  const auto nic = std::make_shared<NicStats>();
  nic->events.count("QP_ACCESS_ERR");
  contents.nics.push_back(nic);
  collect();
  EXPECT_EQ(value("rdma_probe_async_events_total", "event=\"QP_ACCESS_ERR\""), 1);
  EXPECT_EQ(value("rdma_probe_async_events_total", "event=\"QP_FATAL\""), 0)
      << "a first one must be an increase";
}

TEST_F(ProbeRegistry, EmitsTheLabelsOfItsTables) {
  succeed(Op::write, 2us);
  succeed(Op::echo, 9us);
  stats->set_session(Session::State::up, SessionFacts{1024, 50000, "192.0.2.1", "192.0.2.2", "mlx5_0",
                                                      Op::write, Transport::verbs, RttClock::host});
  contents.nics.push_back(std::make_shared<NicStats>());
  contents.responder = true;
  contents.mesh_member = true;
  contents.places.push_back({"mlx5_0", 1, "gpu-17", "pod1", "leaf7", "rail1"});
  contents.rtts.push_back({"mlx5_0", 1, "", "pod1", {{}, delay, connect, {}, delay}});
  discovery::SourceStatus source{"file_sd", "/etc/x.json", 3, true};
  source.last_success = 1.7e9;
  registry.publish_sources({source});
  collect();
  std::set<std::string_view> seen;
  for (const core::Sample& sample : batch.samples()) {
    seen.insert(sample.metric->name);
    std::string names;
    core::for_each_label(sample.labels(), [&](std::string_view name, std::string_view) {
      names.append(names.empty() ? "" : ",").append(name);
    });
    EXPECT_EQ(names, sample.metric->labels) << sample.metric->name;
  }
  EXPECT_EQ(seen.size(), Registry::families().size()) << "every family is there";
}

TEST_F(ProbeRegistry, KeepsQueuePairNumbersAndKeysOut) {
  for (const core::MetricDesc* family : Registry::families())
    for (const std::string_view secret : {"qpn", "psn", "rkey", "key"})
      EXPECT_EQ(family->labels.find(secret), std::string_view::npos) << family->name;
}

}  // namespace
}  // namespace rdma_exporter::probe
