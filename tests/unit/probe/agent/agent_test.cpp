// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/agent/agent.h"

#include <atomic>
#include <memory>
#include <set>
#include <string>

#include "probe/session/prober.h"
#include "tests/unit/probe/agent/agent_fixture.h"

namespace rdma_exporter::probe {
namespace {

TEST_F(AgentTest, MeasuresBetweenTheDevicesOfAHost) {
  configure();
  ASSERT_TRUE(both_work());
  for (const char* path : {kNear, kFar}) {
    const auto of = [path](const char* op) { return std::string(path) + ",op=\"" + op + "\""; };
    EXPECT_TRUE(soon([&] { return value("rdma_probe_attempts_total", of("write")) >= 10; })) << path;
    EXPECT_GT(value("rdma_probe_min_rtt_seconds", of("write")), 15e-6);
    EXPECT_LT(value("rdma_probe_min_rtt_seconds", of("write")), 0.1);
  }
  for (const char* port : {kNearPort, kFarPort}) {
    EXPECT_EQ(value("rdma_probe_sessions", std::string(port) + ",state=\"up\""), 1);
    EXPECT_EQ(value("rdma_probe_connects_total", port), 1);
  }
  EXPECT_EQ(sum("rdma_probe_failures_total", "retry_exc_err"), 0);
  EXPECT_EQ(value("rdma_probe_rate_multiplier_ratio", "device=\"near0\""), 1);
  EXPECT_EQ(value("rdma_probe_targets", "state=\"active\""), 2);
  EXPECT_EQ(value("rdma_probe_targets", "state=\"dropped\""), 0);
  for (const char* role : {"requester", "responder"})
    EXPECT_EQ(value("rdma_probe_qps", std::string("device=\"near0\",role=\"") + role + "\""), 2) << role;
  EXPECT_EQ(value("rdma_probe_inbound_sessions", "device=\"far0\""), 1);
}

// A command ends when it hears that nothing is probed.
TEST_F(AgentTest, SaysThatAllPathsHaveBegunOnlyWhenTheyHave) {
  class Order : public Observer {
   public:
    void begins(const Path&) override { ++begun; }
    void settled() override {
      int expected = -1;  // the first time counts
      begun_when_settled.compare_exchange_strong(expected, begun);
    }
    void success(const Path&, Op, const Completion&) override {}
    void failure(const Path&, Op, const Failure&) override {}
    void only_echoes(const Path&) override {}
    std::atomic<int> begun{0};
    std::atomic<int> begun_when_settled{-1};
  };
  Target target;
  target.name = "host";
  target.address = "127.0.0.1";
  target.port = 9;  // nobody
  options.hostmesh = false;
  options.targets = {target};
  const auto order = std::make_shared<Order>();
  options.observer = order;
  configure();
  ASSERT_TRUE(soon([&] { return order->begun_when_settled >= 0; }));
  EXPECT_EQ(order->begun_when_settled, 2);
}

TEST_F(AgentTest, SaysHowASessionRuns) {
  options.session.traffic_class = 104;
  options.session.service_level = 5;
  options.session.timing.timeout = 16;
  options.session.timing.retry = 2;
  configure();
  ASSERT_TRUE(both_work());
  const std::string info = labels_of("rdma_probe_session_info", kNear);
  for (const char* part :
       {"op=\"write\"", "clock=\"host\"", "connect=\"verbs\"", "path_mtu=\"1024\"",
        "local_address=\"192.0.2.1\"", "peer_address=\"192.0.2.2\"", "peer_device=\"far0\""})
    EXPECT_NE(info.find(part), std::string::npos) << part << " in " << info;
  for (const auto& qp : fabric.queue_pairs()) {
    EXPECT_EQ(qp.attributes.ah_attr.grh.traffic_class, 104);
    EXPECT_EQ(qp.attributes.ah_attr.sl, 5);
    EXPECT_EQ(qp.attributes.timeout, 16);
    EXPECT_EQ(qp.attributes.retry_cnt, 2);
  }
}

TEST_F(AgentTest, SendsInTheClassThatTheHostIsSetToUnlessAnotherIsConfigured) {
  const auto classes = [this] {
    std::set<unsigned> found;
    for (const auto& qp : fabric.queue_pairs())
      if (qp.exists && qp.device == "near0" && qp.attributes.dest_qp_num != 0)
        found.insert(qp.attributes.ah_attr.grh.traffic_class);
    return found;
  };
  const std::set<unsigned> usual{kTrafficClass};
  configure();
  ASSERT_TRUE(both_work());
  EXPECT_EQ(classes(), usual);
  preset = 96;
  EXPECT_TRUE(soon([&] { return classes().contains(96); })) << "without a restart";
  options.session.traffic_class = 8;
  configure();
  EXPECT_TRUE(soon([&] { return classes() == std::set<unsigned>{8}; }));
}

TEST_F(AgentTest, MakesNoMoreQueuePairsThanItMay) {
  fabric.add("far1", {port_with("192.0.2.3")});
  options.limits.queue_pairs = 6;  // half of them: one session of two, and one left over
  configure();
  ASSERT_TRUE(soon([this] { return value("rdma_probe_targets", "state=\"dropped\"") == 3; }));
  EXPECT_EQ(value("rdma_probe_targets", "state=\"active\""), 3);
  EXPECT_EQ(value("rdma_probe_qps_limit", "device=\"near0\""), 6);
  ASSERT_TRUE(soon([this] { return sum("rdma_probe_attempts_total") > 30; }));
  for (const auto& [labels, count] : values("rdma_probe_qps")) EXPECT_LE(count, 3) << labels;
}

TEST_F(AgentTest, GivesQueuePairsBackWithTheirSession) {
  configure();
  ASSERT_TRUE(both_work());
  for (unsigned round = 0; round < 3; ++round) {
    options.session.cluster += "x";  // every session anew
    configure();
    ASSERT_TRUE(soon([&] { return sum("rdma_probe_connects_total") >= 2 * (round + 2); }));
  }
  ASSERT_TRUE(becomes("rdma_probe_sessions", std::string(kNearPort) + ",state=\"up\"", 1));
  ASSERT_TRUE(becomes("rdma_probe_sessions", std::string(kFarPort) + ",state=\"up\"", 1));
  EXPECT_TRUE(soon([this] { return sum("rdma_probe_qps") == 8; })) << sum("rdma_probe_qps");
  const auto exist = [this] {
    const auto all = fabric.queue_pairs();
    return std::count_if(all.begin(), all.end(), [](const auto& qp) { return qp.exists; });
  };
  EXPECT_TRUE(soon([&] { return exist() == 8; })) << exist();
}

TEST_F(AgentTest, MeasuresByTheAdaptersClockWhereThereIsOne) {
  fabric.set_clock(1'000'000);
  configure();
  ASSERT_TRUE(both_work());
  const std::string info = labels_of("rdma_probe_session_info", kNear);
  EXPECT_NE(info.find("op=\"read\",clock=\"nic\""), std::string::npos) << info;
}

TEST_F(AgentTest, ConnectsOneDeviceWhileAnotherWaitsForItsNeighbours) {
  fabric.add("far1", {port_with("192.0.2.3")});
  fabric.block_connects("near0", true);
  options.session.flows = 8;  // more than there are threads for one device
  options.limits.connects_per_second = 1000;
  configure();
  const auto up = [this](const char* from, const char* to) {
    return sum("rdma_probe_up", "device=\"" + std::string(from) + "\",port=\"1\",target=\"" + to + "\"");
  };
  EXPECT_TRUE(soon([&] { return up("far0", "far1") == 8 && up("far1", "far0") == 8; }));
  EXPECT_EQ(up("near0", "far0"), 0);
  fabric.block_connects("near0", false);
  EXPECT_TRUE(soon([&] { return up("near0", "far0") == 8; }));
}

TEST_F(AgentTest, ProbesLessOftenThanAskedForWithinItsLimit) {
  options.session.interval = 10ms;
  options.session.echo_interval = 10ms;
  options.limits.probes_per_second = 30;  // of 200 for the pairs of writes, and 100 for echoes
  configure();
  EXPECT_TRUE(becomes("rdma_probe_rate_multiplier_ratio", "device=\"near0\"", 0.1));
}

TEST(ProberRate, CountsTheWarmUpAndTheEchoes) {
  SessionOptions options;
  options.interval = 100ms;
  options.echo_interval = 250ms;
  EXPECT_DOUBLE_EQ(Prober::rate(options), 20 + 4);
  options.operations = {Op::read};
  EXPECT_DOUBLE_EQ(Prober::rate(options), 20);
  options.operations = {Op::echo};
  EXPECT_DOUBLE_EQ(Prober::rate(options), 4);
}

}  // namespace
}  // namespace rdma_exporter::probe
