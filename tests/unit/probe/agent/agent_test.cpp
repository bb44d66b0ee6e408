// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/agent/agent.h"

#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "probe/session/prober.h"
#include "tests/unit/probe/verbs_fixture.h"

// The whole probe over adapters that are none: side channel, queue pairs, schedule and metrics.
namespace rdma_exporter::probe {
namespace {

class AgentTest : public VerbsTest {
 protected:
  AgentTest() {
    options.hostmesh = true;
    options.session.interval = 20ms;
    options.session.echo_interval = 20ms;
    options.session.host = "here";
  }
  void TearDown() override {
    EXPECT_TRUE(agent.stop(Clock::now() + 10s));
    VerbsTest::TearDown();
  }
  void configure() {
    const auto done = agent.configure(options);
    ASSERT_TRUE(done) << done.error().context;
  }

  using Values = std::map<std::string, double>;
  /// Of a metric by labels.
  Values values(const std::string& name) const {
    core::SampleBatch batch;
    agent.add(batch);
    Values found;
    for (const core::Sample& sample : batch.samples()) {
      if (sample.metric->name != name) continue;
      const bool histogram = sample.metric->type == core::MetricType::histogram;
      found[sample.labels()] = histogram        ? static_cast<double>(sample.histogram->count())
                               : sample.is_real ? sample.real
                                                : static_cast<double>(sample.integer);
    }
    return found;
  }
  double value(const std::string& name, const std::string& labels) const {
    const Values all = values(name);
    const auto found = all.find(labels);
    return found == all.end() ? -1 : found->second;
  }
  bool becomes(const std::string& name, const std::string& labels, double wanted) const {
    return soon([&] { return value(name, labels) == wanted; });
  }
  /// All series of the metric that have this in their labels together.
  double sum(const std::string& name, const std::string& part = "") const {
    double sum = 0;
    for (const auto& [labels, number] : values(name))
      if (labels.find(part) != std::string::npos) sum += number;
    return sum;
  }
  std::string labels_of(const std::string& name, const std::string& part) const {
    for (const auto& [labels, number] : values(name))
      if (labels.find(part) != std::string::npos) return labels;
    return "none";
  }
  bool both_work() const {
    return soon([this] {
      return value("rdma_probe_up", kNear) == 1 && value("rdma_probe_up", kFar) == 1 &&
             sum("rdma_probe_echo_replies_total") >= 20;
    });
  }
  std::set<std::string> devices_of_qps() const {
    std::set<std::string> devices;
    for (const auto& qp : fabric.queue_pairs()) devices.insert(qp.device);
    return devices;
  }

  static constexpr const char* kNear = R"(device="near0",port="1",target="far0")";
  static constexpr const char* kFar = R"(device="far0",port="1",target="near0")";
  AgentOptions options;
  Agent agent;
};

TEST_F(AgentTest, MeasuresBetweenTheDevicesOfAHost) {
  configure();
  ASSERT_TRUE(both_work());
  for (const char* path : {kNear, kFar}) {
    const auto of = [path](const char* op) { return std::string(path) + ",op=\"" + op + "\""; };
    EXPECT_GE(value("rdma_probe_attempts_total", of("write")), 10) << path;
    EXPECT_GT(value("rdma_probe_min_rtt_seconds", of("write")), 15e-6);
    EXPECT_LT(value("rdma_probe_min_rtt_seconds", of("write")), 0.1);
    EXPECT_EQ(value("rdma_probe_sessions", std::string(path) + ",state=\"up\""), 1);
    EXPECT_EQ(value("rdma_probe_connects_total", path), 1);
  }
  EXPECT_EQ(sum("rdma_probe_failures_total", "retry_exc_err"), 0);
  EXPECT_EQ(value("rdma_probe_rate_multiplier_ratio", "device=\"near0\""), 1);
  EXPECT_EQ(value("rdma_probe_targets", "state=\"active\""), 2);
  EXPECT_EQ(value("rdma_probe_targets", "state=\"dropped\""), 0);
  for (const char* role : {"requester", "responder"})
    EXPECT_EQ(value("rdma_probe_qps", std::string("device=\"near0\",role=\"") + role + "\""), 2) << role;
  EXPECT_EQ(value("rdma_probe_inbound_sessions", "device=\"far0\""), 1);
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

TEST_F(AgentTest, SendsEachFlowOverAPathOfItsOwn) {
  options.session.flows = 3;
  configure();
  ASSERT_TRUE(both_work());
  ASSERT_TRUE(becomes("rdma_probe_sessions", std::string(kNear) + ",state=\"up\"", 3));
  std::set<std::uint32_t> labels;
  for (const auto& qp : fabric.queue_pairs())
    if (qp.device == "near0" && qp.attributes.dest_qp_num != 0)
      labels.insert(qp.attributes.ah_attr.grh.flow_label);
  EXPECT_EQ(labels.size(), 6U) << "three there, and three of the other direction";
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
  ASSERT_TRUE(becomes("rdma_probe_sessions", std::string(kNear) + ",state=\"up\"", 1));
  ASSERT_TRUE(becomes("rdma_probe_sessions", std::string(kFar) + ",state=\"up\"", 1));
  EXPECT_TRUE(soon([this] { return sum("rdma_probe_qps") == 8; })) << sum("rdma_probe_qps");
  const auto exist = [this] {
    const auto all = fabric.queue_pairs();
    return std::count_if(all.begin(), all.end(), [](const auto& qp) { return qp.exists; });
  };
  EXPECT_TRUE(soon([&] { return exist() == 8; })) << exist();
}

TEST_F(AgentTest, UsesDevicesWhoseWholeNameIsIncluded) {
  fabric.add("near0x", {port_with("192.0.2.9")});
  options.device_include = core::Pattern("near0|far0");
  configure();
  ASSERT_TRUE(both_work());
  EXPECT_EQ(devices_of_qps(), (std::set<std::string>{"far0", "near0"}));
}

TEST_F(AgentTest, ProbesFromTheDeviceThatATargetIsFor) {
  options.hostmesh = false;
  options.responder.enabled = true;
  options.responder.listen = {{{asio::ip::make_address("127.0.0.1"), 0}}};
  Target target;
  target.name = "only";
  target.address = "127.0.0.1";
  target.from = "near0";
  options.targets = {target};
  configure();
  EXPECT_TRUE(becomes("rdma_probe_targets", "state=\"active\"", 1));
  EXPECT_FALSE(values("rdma_probe_sessions").empty());
  for (const auto& [labels, count] : values("rdma_probe_sessions"))
    EXPECT_NE(labels.find("device=\"near0\""), std::string::npos) << labels;
}

TEST_F(AgentTest, CountsEventsAndGoesOn) {
  configure();
  ASSERT_TRUE(both_work());
  fabric.event("near0", IBV_EVENT_PORT_ERR, 1);
  fabric.event("near0", IBV_EVENT_PORT_ACTIVE, 1);
  ASSERT_TRUE(becomes("rdma_probe_async_events_total", "device=\"near0\",event=\"PORT_ACTIVE\"", 1));
  EXPECT_EQ(value("rdma_probe_async_events_total", "device=\"near0\",event=\"PORT_ERR\""), 1);
  EXPECT_EQ(value("rdma_probe_connects_total", kNear), 1);
}

TEST_F(AgentTest, GivesADeviceBackThatIsGoing) {
  configure();
  ASSERT_TRUE(both_work());
  fabric.remove("far0");
  fabric.event("far0", IBV_EVENT_DEVICE_FATAL);
  EXPECT_TRUE(soon([this] { return fabric.open_contexts() == 1; })) << "its driver waits for it";
  EXPECT_TRUE(soon([this] {
    const auto now = fabric.queue_pairs();
    return std::none_of(now.begin(), now.end(),
                        [](const auto& qp) { return qp.device == "far0" && qp.exists; });
  }));
}

TEST_F(AgentTest, BeginsAnewWithAQueueThatWorksWhenItsQueueIsDead) {
  configure();
  ASSERT_TRUE(both_work());
  const std::size_t before = fabric.queue_pairs().size();
  fabric.event("near0", IBV_EVENT_CQ_ERR);
  ASSERT_TRUE(soon([&] {
    const auto all = fabric.queue_pairs();
    return std::none_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(before),
                        [](const auto& qp) { return qp.device == "near0" && qp.exists; });
  })) << "no queue pair of the dead queue is kept";
  EXPECT_TRUE(both_work()) << "there is another one";
}

TEST_F(AgentTest, SaysWhyAPathFails) {
  configure();
  ASSERT_TRUE(both_work());
  fabric.fail_with(IBV_WC_RETRY_EXC_ERR);
  const std::string failures = std::string(kNear) + ",op=\"write\",stage=\"op\",reason=\"retry_exc_err\"";
  EXPECT_TRUE(soon([&] { return value("rdma_probe_failures_total", failures) >= 1; }));
  EXPECT_TRUE(becomes("rdma_probe_up", kNear, 0));
  fabric.fail_with(IBV_WC_SUCCESS);
  EXPECT_TRUE(becomes("rdma_probe_up", kNear, 1)) << "and comes back";
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

TEST_F(AgentTest, NeedsARailInCommonAndTheSameKindOfLink) {
  fabric.add(
      "ib0",
      {{.link_layer = IBV_LINK_LAYER_INFINIBAND, .lid = 5, .gids = {{"fe80::5", 0, IBV_GID_TYPE_IB}}}});
  configure();
  ASSERT_TRUE(both_work());
  for (const auto& [labels, count] : values("rdma_probe_attempts_total"))
    EXPECT_EQ(labels.find("ib0"), std::string::npos) << labels;
}

}  // namespace
}  // namespace rdma_exporter::probe
