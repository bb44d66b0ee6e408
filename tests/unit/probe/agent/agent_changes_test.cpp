// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// What happens around the probe while it runs.
#include <algorithm>
#include <string>

#include "tests/unit/probe/agent/agent_fixture.h"

namespace rdma_exporter::probe {
namespace {

TEST_F(AgentTest, CountsEventsAndGoesOn) {
  configure();
  ASSERT_TRUE(both_work());
  fabric.event("near0", IBV_EVENT_PORT_ERR, 1);
  fabric.event("near0", IBV_EVENT_PORT_ACTIVE, 1);
  ASSERT_TRUE(becomes("rdma_probe_async_events_total", "device=\"near0\",event=\"PORT_ACTIVE\"", 1));
  EXPECT_EQ(value("rdma_probe_async_events_total", "device=\"near0\",event=\"PORT_ERR\""), 1);
  EXPECT_EQ(value("rdma_probe_connects_total", kNearPort), 1);
}

// Nothing tells this host of it but its own operations.
TEST_F(AgentTest, FollowsAPeerToItsNewAddressOnceTheOldOneFails) {
  probe_far0_from_near0();
  options.session.operations = {Op::write};  // or an echo may be what fails first
  configure();
  ASSERT_TRUE(becomes("rdma_probe_up", kOnly, 1));
  fabric.set_port("far0", 1, port_with("192.0.2.7"));
  const std::string lost = std::string(kOnly) + ",op=\"write\",stage=\"op\",reason=\"retry_exc_err\"";
  EXPECT_TRUE(soon([&] { return value("rdma_probe_failures_total", lost) >= 1; })) << "it is not concealed";
  EXPECT_TRUE(soon([&] {
    return labels_of("rdma_probe_session_info", kOnly).find("peer_address=\"192.0.2.7\"") !=
           std::string::npos;
  }));
  EXPECT_TRUE(becomes("rdma_probe_up", kOnly, 1));
}

TEST_F(AgentTest, ReplacesItsConnectionsWhenTheSubnetManagerChangesItsLid) {
  fabric.set_port("near0", 1, infiniband_port(17, "fe80::17"));
  fabric.set_port("far0", 1, infiniband_port(18, "fe80::18"));
  probe_far0_from_near0();
  options.session.operations = {Op::write};  // a lost echo would be noticed without the event
  configure();
  ASSERT_TRUE(becomes("rdma_probe_up", kOnly, 1));
  const double connects = value("rdma_probe_connects_total", kNearPort);
  fabric.set_port("near0", 1, infiniband_port(19, "fe80::17"));
  fabric.event("near0", IBV_EVENT_LID_CHANGE, 1);
  EXPECT_TRUE(soon([this] {
    const auto all = fabric.queue_pairs();
    return std::count_if(all.begin(), all.end(), [](const auto& qp) {
             return qp.exists && qp.device == "far0" && qp.attributes.ah_attr.dlid == 19;
           }) == 1;
  })) << "the peer sends to the new one";
  const double attempts = sum("rdma_probe_attempts_total");
  EXPECT_TRUE(soon([&] { return sum("rdma_probe_attempts_total") >= attempts + 10; }));
  EXPECT_EQ(value("rdma_probe_connects_total", kNearPort), connects + 1);
  EXPECT_EQ(sum("rdma_probe_failures_total"), 0) << "no probe has to fail first";
}

TEST_F(AgentTest, CountsATargetInItsNewGroupWhenItIsRelabelled) {
  probe_far0_from_near0();
  for (const char* group : {"rack1", "rack2"}) {
    options.targets[0].group = group;
    configure();
    const std::string label = "target_group=\"" + std::string(group) + "\"";
    for (const char* name :
         {"rdma_probe_rtt_seconds", "rdma_probe_cold_rtt_seconds", "rdma_probe_connect_seconds"})
      EXPECT_TRUE(soon([&] { return sum(name, label) >= 1; })) << name << " of " << group;
  }
  for (const char* name :
       {"rdma_probe_rtt_seconds", "rdma_probe_cold_rtt_seconds", "rdma_probe_connect_seconds"})
    EXPECT_EQ(labels_of(name, "rack1"), "none") << name;
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

}  // namespace
}  // namespace rdma_exporter::probe
