// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Whom the probe probes, from which devices, and what a page then has.
#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "tests/unit/probe/agent/agent_fixture.h"
#include "tests/unit/support/temp_tree.h"

namespace rdma_exporter::probe {
namespace {

TEST_F(AgentTest, SaysWhetherTheMeshHasThisHostAndProbesNobodyBefore) {
  const test::TempTree tree;
  const std::string list = tree.path("mesh.json");
  const auto write = [&](const std::string& targets) {
    tree.write("mesh.new", R"([{"targets": [)" + targets + "]}]");
    ASSERT_EQ(std::rename(tree.path("mesh.new").c_str(), list.c_str()), 0);
  };
  // Nobody listens there; 127.0.0.2 is no address of an interface, and so not this host.
  write(R"("there:9", "127.0.0.2:9")");
  options.hostmesh = false;
  options.sources.files = {list};
  options.select.mesh = true;
  configure();
  ASSERT_TRUE(becomes("rdma_probe_mesh_member", "", 0));
  EXPECT_EQ(value("rdma_probe_targets", "state=\"active\""), 0);
  write(R"("here:9", "127.0.0.2:9")");
  ASSERT_TRUE(becomes("rdma_probe_mesh_member", "", 1));
  EXPECT_TRUE(becomes("rdma_probe_targets", "state=\"active\"", 2)) << "from each of two devices";
}

TEST_F(AgentTest, SaysOnWhichLeafDiscoveryHasATarget) {
  const test::TempTree tree;
  tree.write("mesh.json", R"([{"targets": ["here:9"], "labels": {"leaf": "l1"}},
                              {"targets": ["127.0.0.2:9"], "labels": {"leaf": "l2", "rail": "r0"}}])");
  options.hostmesh = false;
  options.sources.files = {tree.path("mesh.json")};
  options.select.mesh = true;
  options.session.flows = 2;
  configure();
  ASSERT_TRUE(becomes("rdma_probe_mesh_member", "", 1));
  EXPECT_EQ(values("rdma_probe_target_info"), Values{}) << "r0 is a circle of its own";
  tree.write("mesh.json", R"([{"targets": ["here:9"], "labels": {"leaf": "l1", "rail": "r0"}},
                              {"targets": ["127.0.0.2:9"], "labels": {"leaf": "l2", "rail": "r0"}}])");
  ASSERT_TRUE(soon([this] { return values("rdma_probe_target_info").size() == 2; })) << "of two devices";
  const std::string labels = labels_of("rdma_probe_target_info", "near0");
  EXPECT_NE(labels.find(R"(target="127.0.0.2",target_group="",target_leaf="l2",target_rail="r0")"),
            std::string::npos)
      << labels;
}

// Of one page, as --metrics.set=lean serves it, by family. A histogram is its buckets, +Inf, sum and count.
std::map<std::string_view, std::size_t> series_of(const Agent& agent) {
  core::SampleBatch batch;
  agent.add(batch);
  std::map<std::string_view, std::size_t> lines;
  for (const core::Sample& sample : batch.samples())
    if (sample.metric->set == core::MetricSet::lean)
      lines[sample.metric->name] +=
          sample.metric->type == core::MetricType::histogram ? sample.histogram->buckets.size() + 2 : 1;
  return lines;
}

TEST_F(AgentTest, HasAtMostFiveHundredSeriesOnAHostWithEightRailsInAMesh) {
  constexpr int kRails = 8;
  for (int rail = 0; rail < kRails; ++rail)
    fabric.add("mlx5_" + std::to_string(rail), {port_with("198.51.100." + std::to_string(rail + 1))});
  // The others are this host by addresses that none of its interfaces has, so that all of them answer.
  const std::uint16_t port = test::free_port();
  const auto entry = [&](const std::string& host, const char* leaf) {
    return R"({"targets": [")" + host + ":" + std::to_string(port) + R"("], "labels": {"leaf": ")" + leaf +
           "\"}}";
  };
  std::string list = "[" + entry("here", "l1");
  for (int other = 2; other < 20; ++other)
    list += "," + entry("127.0.0." + std::to_string(other), other < 10 ? "l1" : "l2");
  const test::TempTree tree;
  tree.write("mesh.json", list + "]");
  options.hostmesh = false;
  options.sources.files = {tree.path("mesh.json")};
  options.select.mesh = true;
  options.responder.enabled = options.responder.insecure = true;
  options.responder.listen = {{{asio::ip::address_v4::any(), port}}};
  options.device_include = core::Pattern("mlx5_.");
  options.session.interval = options.session.echo_interval = 200ms;
  options.limits.connects_per_second = 1000;
  configure();
  const auto all_work = [this] {
    const Values up = values("rdma_probe_up");
    const auto works = [](const auto& one) { return one.second == 1; };
    return up.size() >= 4 * kRails && std::all_of(up.begin(), up.end(), works) &&
           values("rdma_probe_host_delay_seconds").size() == up.size() &&
           sum("rdma_probe_attempts_total", "target=\"\"") >= 2 * kRails;
  };
  ASSERT_TRUE(soon(all_work)) << values("rdma_probe_up").size();
  EXPECT_EQ(values("rdma_probe_target_info").size(), values("rdma_probe_up").size());
  std::size_t all = 0;
  for (const auto& [family, lines] : series_of(agent)) all += lines;
  EXPECT_LE(all, 500U) << testing::PrintToString(series_of(agent));
}

TEST_F(AgentTest, SendsEachFlowOverAPathOfItsOwn) {
  options.session.flows = 3;
  configure();
  ASSERT_TRUE(both_work());
  ASSERT_TRUE(becomes("rdma_probe_sessions", std::string(kNearPort) + ",state=\"up\"", 3));
  for (const char* flow : {"0", "1", "2"})
    EXPECT_EQ(value("rdma_probe_up", std::string(kNearPort) + ",target=\"far0\",flow=\"" + flow + "\""), 1);
  std::set<std::uint32_t> labels;
  for (const auto& qp : fabric.queue_pairs())
    if (qp.device == "near0" && qp.attributes.dest_qp_num != 0)
      labels.insert(qp.attributes.ah_attr.grh.flow_label);
  EXPECT_EQ(labels.size(), 6U) << "three there, and three of the other direction";
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

TEST_F(AgentTest, SamplesAListThatIsLongerThanItsLimit) {
  options.hostmesh = false;
  options.limits.queue_pairs = 20;  // five sessions of two
  for (int i = 0; i < 40; ++i) {
    Target target;
    target.name = "host" + std::to_string(i);
    target.address = "127.0.0.1";
    target.port = 9;  // nobody
    options.targets.push_back(target);
  }
  configure();
  ASSERT_TRUE(becomes("rdma_probe_targets", "state=\"dropped\"", 70));
  const auto probed_by = [this](const std::string& device) {
    std::set<std::string> targets;
    for (const auto& [labels, count] : values("rdma_probe_control_failures_total"))
      if (labels.find("device=\"" + device + "\"") != std::string::npos)
        targets.insert(labels.substr(labels.find("target="), labels.find(",flow") - labels.find("target=")));
    return targets;
  };
  EXPECT_EQ(probed_by("near0").size(), 5U);
  EXPECT_NE(probed_by("near0"), probed_by("far0")) << "between them they see more of the list";
}

TEST_F(AgentTest, NeedsARailInCommonAndTheSameKindOfLink) {
  fabric.add("ib0", {infiniband_port(5, "fe80::5")});
  configure();
  ASSERT_TRUE(both_work());
  for (const auto& [labels, count] : values("rdma_probe_attempts_total"))
    EXPECT_EQ(labels.find("ib0"), std::string::npos) << labels;
}

}  // namespace
}  // namespace rdma_exporter::probe
