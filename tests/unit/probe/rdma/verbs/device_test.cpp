// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/rdma/verbs/device.h"

#include "probe/rdma/verbs/cq.h"
#include "tests/unit/probe/verbs_fixture.h"

namespace rdma_exporter::probe {
namespace {

TEST_F(VerbsTest, ADeviceIsOpenedByItsNameAndGivenBack) {
  EXPECT_EQ(verbs_device_names(), (std::vector<std::string>{"far0", "near0"}));
  EXPECT_EQ(open("near0")->name(), "near0");
  EXPECT_EQ(VerbsDevice::open("near").error().os_errno, ENODEV);
}

TEST_F(VerbsTest, APortIsWhatItsAttributesSay) {
  const auto device = open("near0");
  EXPECT_EQ(device->ports(), 1U);
  EXPECT_EQ(device->port(1)->link, LinkLayer::ethernet);
  EXPECT_EQ(device->port(1)->mtu, IBV_MTU_4096);
  EXPECT_TRUE(device->port(1)->active);
  EXPECT_EQ(device->port(2).error().os_errno, EINVAL);
  for (const auto state : {IBV_PORT_DOWN, IBV_PORT_INIT, IBV_PORT_ARMED, IBV_PORT_ACTIVE_DEFER}) {
    fabric.set_port("near0", 1, {.state = state});
    EXPECT_FALSE(device->port(1)->active) << state;
  }
  fabric.set_port("near0", 1, infiniband_port(17, "fe80::17"));
  EXPECT_EQ(device->port(1)->link, LinkLayer::infiniband);
  EXPECT_EQ(device->port(1)->lid, 17);
  fabric.set_port("near0", 1, {.link_layer = IBV_LINK_LAYER_ETHERNET, .lid = 17});
  EXPECT_EQ(device->port(1)->lid, 0) << "Ethernet has no LID";
}

TEST_F(VerbsTest, TheAddressesOfAPortAreItsOwnAndOfRoceV2) {
  fabric.add("two", {{.gids = {{"192.0.2.11", 1}}},
                     {.gids = {{"192.0.2.21", 255},
                               {"192.0.2.22", 256},
                               {"192.0.2.23", 2, IBV_GID_TYPE_ROCE_V1},
                               {"192.0.2.24", 3, IBV_GID_TYPE_ROCE_V2, 7}}}});
  const auto device = open("two");
  const auto first = device->gids(1);
  ASSERT_EQ(first->size(), 1U);
  EXPECT_EQ(first->front().gid, *gid_of_address("192.0.2.11"));
  const auto second = device->gids(2).value();
  ASSERT_EQ(second.size(), 4U);
  EXPECT_TRUE(second[0].usable);
  EXPECT_FALSE(second[1].usable) << "an address vector has 8 bits for the index";
  EXPECT_FALSE(second[2].usable) << "routers drop RoCE v1";
  EXPECT_TRUE(second[3].usable);
  EXPECT_EQ(second[3].index, 3U);
  EXPECT_EQ(second[3].netdev, 7U);
}

TEST_F(VerbsTest, EventsSayWhatTheyMeanForASessionAndAreAcknowledged) {
  const auto device = open("near0");
  using Kind = DeviceEvent::Kind;
  const auto next = [&](ibv_event_type type, std::uint8_t port) {
    fabric.event("near0", type, port);
    return device->next_event().value();
  };
  const auto up = next(IBV_EVENT_PORT_ACTIVE, 1);
  EXPECT_EQ(up.kind, Kind::port_up);
  EXPECT_EQ(up.port, 1);
  const auto down = next(IBV_EVENT_PORT_ERR, 2);
  EXPECT_EQ(down.kind, Kind::port_down);
  EXPECT_EQ(down.name, "PORT_ERR");
  EXPECT_EQ(down.port, 2);
  for (const auto type : {IBV_EVENT_GID_CHANGE, IBV_EVENT_PKEY_CHANGE})
    EXPECT_EQ(next(type, 1).kind, Kind::address) << type;
  EXPECT_EQ(next(IBV_EVENT_LID_CHANGE, 1).kind, Kind::lid);
  EXPECT_EQ(next(IBV_EVENT_QP_FATAL, 0).kind, Kind::other);
  EXPECT_EQ(next(IBV_EVENT_CQ_ERR, 0).kind, Kind::fatal) << "all queue pairs hang on that queue";
  EXPECT_EQ(next(IBV_EVENT_DEVICE_FATAL, 0).kind, Kind::fatal);
  EXPECT_EQ(device->next_event(), std::nullopt);
}

TEST_F(VerbsTest, AnAdapterThatIsGoneIsAnErrorAndNotIdle) {
  const auto device = open("near0");
  const auto queue = VerbsCq::make(device, 16).value();
  fabric.break_adapter("near0");
  std::array<WorkCompletion, 4> completions;
  const auto polled = queue->poll(completions);
  ASSERT_FALSE(polled);
  EXPECT_EQ(polled.error().os_errno, EIO);
  EXPECT_FALSE(queue->arm());
}

}  // namespace
}  // namespace rdma_exporter::probe
