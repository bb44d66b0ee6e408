// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include <cerrno>

#include "host/events/event_reader.h"
#include "tests/unit/collectors/collector_fixture.h"

namespace rdma_exporter::collectors {
namespace {

using namespace std::chrono_literals;

constexpr const char* kUp = R"(rdma_exporter_async_events_up{device="d"})";

std::string carrier(const std::string& netdev, const std::string& to) {
  return R"(rdma_netdev_carrier_changes_total{device="d",port="1",netdev=")" + netdev + R"(",to=")" + to +
         R"("})";
}

class EventsTest : public CollectorFixture {
 protected:
  EventsTest() : CollectorFixture(events_spec) {}

  void add_device(const std::string& driver) const {
    add_port("d");
    set_driver("d", driver);
    tree_.write(port_path("d") + "gid_attrs/ndevs/0", "eth0\n");
    tree_.write("class/net/eth0/carrier_up_count", "3\n");
    tree_.write("class/net/eth0/carrier_down_count", "2\n");
  }
  // Not started: no thread, no sockets.
  void listen() {
    host_.events = std::make_shared<host::EventReader>(
        host_.changes, [](host::NetlinkProtocol) { return std::unique_ptr<host::Netlink>(); });
  }
};

TEST_F(EventsTest, ShowsTheCarrierChangesThatTheKernelCounted) {
  add_device("mlx5_core");
  EXPECT_EQ(collect(), (Page{{carrier("eth0", "up"), 3}, {carrier("eth0", "down"), 2}}));
  tree_.write("class/net/eth0/carrier_down_count", "3\n");
  EXPECT_EQ(collect().at(carrier("eth0", "down")), 3);
  EXPECT_TRUE(errors_.empty());
}

TEST_F(EventsTest, FollowsAPortToAnotherInterfaceWhenToldOfIt) {
  add_device("mlx5_core");
  tree_.write("class/net/eth1/carrier_up_count", "1\n");
  ASSERT_TRUE(collect().contains(carrier("eth0", "up")));
  tree_.write(port_path("d") + "gid_attrs/ndevs/0", "eth1\n");
  ASSERT_TRUE(collect().contains(carrier("eth0", "up"))) << "not asked in every collection";
  host_.changes->note_all();
  EXPECT_EQ(collect(), (Page{{carrier("eth1", "up"), 1}}));
}

TEST_F(EventsTest, ReadsCarrierChangesAgainWhenAnEventReportsOne) {
  add_device("mlx5_core");
  tree_.write("class/net/eth0/flags", "0x1003\n");
  host_.changes->set_complete(true);
  ASSERT_EQ(collect().at(carrier("eth0", "down")), 2);
  tree_.write("class/net/eth0/carrier_down_count", "3\n");
  EXPECT_EQ(collect().at(carrier("eth0", "down")), 2) << "the kernel has not reported it yet";
  host_.changes->note("eth0");
  EXPECT_EQ(collect().at(carrier("eth0", "down")), 3);
  tree_.write("class/net/eth0/carrier_up_count", "4\n");
  pass(60s);
  EXPECT_EQ(collect().at(carrier("eth0", "up")), 4) << "each minute without an event";
}

TEST_F(EventsTest, ReadsCarrierChangesAgainAfterAFailure) {
  add_device("mlx5_core");
  tree_.write("class/net/eth0/flags", "0x1003\n");
  host_.changes->set_complete(true);
  fs_->failures["class/net/eth0/carrier_up_count"] = EIO;
  EXPECT_FALSE(collect().contains(carrier("eth0", "up")));
  fs_->failures.clear();
  EXPECT_EQ(collect().at(carrier("eth0", "up")), 3);
}

TEST_F(EventsTest, HasNoCarrierChangesWhereTheKernelDoesNotCountThem) {
  add_device("mlx5_core");
  tree_.remove("class/net/eth0/carrier_up_count");
  EXPECT_EQ(collect(), (Page{{carrier("eth0", "down"), 2}}));
  EXPECT_TRUE(errors_.empty());
  tree_.write("class/net/eth0/carrier_down_count", "many\n");
  EXPECT_EQ(collect(), Page{});
  EXPECT_EQ(errors_, (Counts{{"parse", 1}}));
}

TEST_F(EventsTest, SaysWhetherSomebodySetTheInterfaceDown) {
  constexpr const char* kAdminUp = R"(rdma_netdev_admin_up{device="d",port="1",netdev="eth0"})";
  add_device("mlx5_core");
  tree_.write("class/net/eth0/flags", "0x1003\n");
  EXPECT_EQ(collect().at(kAdminUp), 1);
  tree_.write("class/net/eth0/flags", "0x1002\n");
  EXPECT_EQ(collect().at(kAdminUp), 0);
  context_.metrics.set = core::MetricSet::lean;
  reload();
  EXPECT_EQ(collect().at(kAdminUp), 0);
  tree_.write("class/net/eth0/flags", "0x1003\n");
  EXPECT_FALSE(collect().contains(kAdminUp)) << "nothing to say";
  tree_.write("class/net/eth0/flags", "up\n");
  EXPECT_FALSE(collect().contains(kAdminUp));
  EXPECT_EQ(errors_, (Counts{{"parse", 1}}));
}

TEST_F(EventsTest, ListensToDevicesThatCanBeRemovedAllTheSame) {
  listen();
  add_device("mlx5_core");
  const Page page = collect();
  EXPECT_EQ(page.at(kUp), 1);
  EXPECT_EQ(page.at(R"(rdma_device_async_events_total{device="d",port="1",event="PORT_ERR"})"), 0);
  EXPECT_EQ(page.at(R"(rdma_device_async_events_total{device="d",port="",event="DEVICE_FATAL"})"), 0);
  EXPECT_EQ(page.at(R"(rdma_exporter_events_received_total{source="async"})"), 0);
  collect();
  EXPECT_EQ(verbs_->opens, 1) << "once";
}

TEST_F(EventsTest, LeavesDevicesAloneWhoseRemovalWouldWaitForIt) {
  listen();
  add_port("d");
  tree_.write(device_path("d") + "parent", "eth0\n");  // rxe
  EXPECT_FALSE(collect().contains(kUp));
  EXPECT_EQ(verbs_->opens, 0);
}

TEST_F(EventsTest, ListensToThoseTooWhenTold) {
  listen();
  context_.async_events = AsyncEventsPolicy::on;
  add_port("d");
  tree_.write(device_path("d") + "parent", "eth0\n");
  EXPECT_EQ(collect().at(kUp), 1);
}

TEST_F(EventsTest, ListensToNoneWhenTold) {
  listen();
  context_.async_events = AsyncEventsPolicy::off;
  add_device("mlx5_core");
  EXPECT_FALSE(collect().contains(kUp));
  EXPECT_EQ(verbs_->opens, 0);
}

TEST_F(EventsTest, SaysOnceThatADeviceCannotBeOpenedAndTriesAgain) {
  listen();
  verbs_->async_refusal = EACCES;
  add_device("mlx5_core");
  Page page = collect();
  EXPECT_EQ(page.at(kUp), 0);
  EXPECT_FALSE(page.contains(R"(rdma_device_async_events_total{device="d",port="1",event="PORT_ERR"})"))
      << "0 would say that nothing happened";
  EXPECT_EQ(errors_, (Counts{{"EACCES", 1}}));
  collect();
  EXPECT_EQ(verbs_->opens, 1);
  pass(2min);
  collect();
  EXPECT_EQ(verbs_->opens, 2);
  EXPECT_TRUE(errors_.empty()) << "counted once";
  verbs_->async_refusal = 0;
  pass(2min);
  page = collect();
  EXPECT_EQ(page.at(kUp), 1);
}

// Its jobs stay where a read of it hangs in the kernel.
TEST_F(EventsTest, ShowsTheLastEventOfADeviceThatHasGoneWhileItsJobsAreStillThere) {
  constexpr const char* kFatal = R"(rdma_device_async_events_total{device="d",port="",event="DEVICE_FATAL"})";
  listen();
  add_device("mlx5_core");
  collect();
  host_.events->counts().count("d", {host::AsyncEventType::device_fatal, 0});
  const auto kept = jobs();
  tree_.remove(device_path("d"));
  EXPECT_EQ(collect().at(kFatal), 1);
  add_device("mlx5_core");
  EXPECT_EQ(collect().at(kFatal), 1) << "a counter does not fall";
}

TEST_F(EventsTest, ShowsWhatWasReceivedOfEachSource) {
  listen();
  host::EventCounts& counts = host_.events->counts();
  counts.set_up(host::EventSource::uevent);
  counts.received(host::EventSource::uevent, 5);
  counts.lost(host::EventSource::uevent);
  counts.set_down(host::EventSource::link, core::os_error(EAFNOSUPPORT).value());
  const Page page = collect();
  EXPECT_EQ(page.at(R"(rdma_exporter_event_source_up{source="uevent"})"), 1);
  EXPECT_EQ(page.at(R"(rdma_exporter_events_received_total{source="uevent"})"), 5);
  EXPECT_EQ(page.at(R"(rdma_exporter_event_losses_total{source="uevent"})"), 1);
  EXPECT_EQ(page.at(R"(rdma_exporter_event_source_up{source="link"})"), 0);
  EXPECT_FALSE(page.contains(R"(rdma_exporter_event_source_up{source="monitor"})")) << "not in this kernel";
}

}  // namespace
}  // namespace rdma_exporter::collectors
