// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/rdma/nic_acceptor.h"

#include "tests/unit/probe/verbs_fixture.h"

// Over which own device a peer is met, and what it may do there.
namespace rdma_exporter::probe {
namespace {

class NicAcceptorTest : public VerbsTest {
 protected:
  NicAcceptorTest() { fabric.add("far1", {port_with("198.51.100.3")}); }
  void TearDown() override {
    acceptor.use({}, {});
    // A loop's last holder may be its own thread, which leaves it to the workers.
    EXPECT_TRUE(soon([this] { return fabric.open_contexts() == 0; }));
    workers.stop();
    VerbsTest::TearDown();
  }
  void use(const std::vector<std::string>& names, const Limits& limits = {}) {
    std::vector<std::shared_ptr<Nic>> nics;
    for (const std::string& name : names) nics.push_back(Nic::open(name, limits, workers, [] {}).value());
    acceptor.use(std::move(nics), rails);
  }
  tl::expected<Acceptor::Offer, Reject> ask(const Connect& wish, const std::string& control = "127.0.0.1",
                                            const std::string& calling = "") {
    std::promise<tl::expected<Acceptor::Offer, Reject>> answer;
    acceptor.accept(wish, {control, calling}, [&](auto offer) { answer.set_value(std::move(offer)); });
    return answer.get_future().get();
  }
  std::string device_for(const Connect& wish, const std::string& control = "127.0.0.1") {
    const auto offer = ask(wish, control);
    return offer ? offer->accept.device : std::string(rejected_name(offer.error().reason));
  }
  static Connect wish_of(const std::string& address) {
    Connect wish;
    wish.address.gid = *gid_of_address(address);
    wish.address.mtu = IBV_MTU_1024;
    wish.address.one_sided = {17, 5};
    wish.address.echo = {18, 6};
    wish.wanted = kGrantWrite | kGrantEcho;
    wish.timeout = 14;
    return wish;
  }

  asio::io_context io;
  Workers workers{2};
  std::map<std::string, Rail> rails;
  std::uint32_t default_route = 0;
  NicAcceptor acceptor{workers, io, [this] { return default_route; }};
};

TEST_F(NicAcceptorTest, MeetsAPeerAtTheAddressItCalledThenOnItsRailThenOnItsNetwork) {
  use({"far0", "far1"});
  Connect wish = wish_of("198.51.100.9");
  EXPECT_EQ(device_for(wish), "far1");
  wish.rail = "far0";
  EXPECT_EQ(device_for(wish), "far0");
  EXPECT_EQ(device_for(wish, "198.51.100.3"), "far1");
  wish.device = "far0";
  EXPECT_EQ(device_for(wish, "198.51.100.3"), "far0");
  wish.device = "far7";
  EXPECT_EQ(device_for(wish), "rejected_no_device");
}

TEST_F(NicAcceptorTest, MeetsAPeerInItsVlanOnThePortThatItCalled) {
  FakePort port = port_with("10.9.0.2");
  port.gids.push_back({.address = "10.20.0.2", .index = 5, .netdev = 7});
  fabric.add("vlan0", {port});
  use({"far0", "vlan0"});
  const auto offer = ask(wish_of("10.20.0.1"), "10.9.0.2", "10.9.0.1");
  ASSERT_TRUE(offer);
  EXPECT_EQ(offer->accept.device, "vlan0");
  EXPECT_EQ(offer->accept.address.gid, *gid_of_address("10.20.0.2"));
}

TEST_F(NicAcceptorTest, MeetsAPeerWhoseDevicesHaveOtherNamesAtTheSamePlace) {
  fabric.add("far2", {port_with("198.51.100.4")});
  rails = {{"far0", {1, 3}}, {"far1", {0, 3}}, {"far2", {2, 3}}};
  use({"far0", "far1", "far2"});
  Connect wish = wish_of("203.0.113.1");
  wish.rail = "rocep12s0";
  for (const auto& [device, rail] : rails) {
    wish.place = rail;
    EXPECT_EQ(device_for(wish), device);
  }
  wish.place = Rail{1, 4};
  EXPECT_EQ(device_for(wish), device_for(wish_of("203.0.113.1"))) << "of another number of rails";
  wish.place = Rail{1, 3};
  wish.rail = "far2";
  EXPECT_EQ(device_for(wish), "far2") << "a name says more";
}

TEST_F(NicAcceptorTest, LetsNoOtherDeviceAnswerForOneThatIsDown) {
  FakePort down = port_with("192.0.2.4");
  down.state = IBV_PORT_DOWN;
  fabric.add("far2", {down});
  use({"far0", "far1", "far2"});
  Connect wish = wish_of("192.0.2.1");
  wish.rail = "far2";
  EXPECT_EQ(device_for(wish), "rejected_no_device") << "the peer would take far0's answers for those of far2";
  EXPECT_EQ(device_for(wish, "198.51.100.3"), "far1") << "which is what was called";
  wish.device = "far0";
  EXPECT_EQ(device_for(wish), "far0") << "which is what was asked for";
  fabric.set_port("far2", 1, port_with("192.0.2.4"));
  wish.device.clear();
  EXPECT_EQ(device_for(wish), "far2");
}

TEST_F(NicAcceptorTest, LeavesTheAdapterOfTheDefaultRouteToWhoNamesIt) {
  FakePort frontend = port_with("203.0.113.2");
  for (FakeGid& gid : frontend.gids) gid.netdev = 9;
  fabric.add("front0", {frontend});
  use({"far0", "far1", "front0"});
  default_route = 9;
  Connect wish = wish_of("192.0.2.1");
  for (const char* rail : {"far0", "far1"}) {
    wish.rail = rail;
    EXPECT_EQ(device_for(wish, "203.0.113.2"), rail) << "the host's name leads to front0";
  }
  wish.rail = "other";
  EXPECT_EQ(device_for(wish, "203.0.113.2"), "far0");
  wish.device = "front0";
  EXPECT_EQ(device_for(wish, "203.0.113.2"), "front0");
  wish.device.clear();
  wish.rail = "far0";
  EXPECT_EQ(device_for(wish, "198.51.100.3"), "far1") << "a list of adapters names them by their addresses";
}

TEST_F(NicAcceptorTest, MeetsNobodyOnAnotherKindOfLinkOrAPortThatIsDown) {
  FakePort down = port_with("192.0.2.4");
  down.state = IBV_PORT_DOWN;
  fabric.add("down0", {down});
  use({"down0"});
  EXPECT_EQ(device_for(wish_of("192.0.2.1")), "rejected_no_device");
  use({"far0"});
  Connect wish = wish_of("192.0.2.1");
  wish.address.link = LinkLayer::infiniband;
  EXPECT_EQ(device_for(wish), "rejected_no_device");
}

TEST_F(NicAcceptorTest, GrantsWhatWasAskedForOnThePathOfThePeer) {
  use({"far0"});
  Connect wish = wish_of("192.0.2.1");
  wish.wanted = kGrantRead | kGrantEcho;
  wish.traffic_class = 104;
  wish.flow_label = 0x4321;
  const auto offer = ask(wish);
  ASSERT_TRUE(offer);
  EXPECT_EQ(offer->accept.granted, kGrantRead | kGrantEcho);
  EXPECT_EQ(offer->accept.address.gid, *gid_of_address("192.0.2.2"));
  const auto qp = record_of(offer->accept.address.one_sided.number).attributes;
  EXPECT_EQ(qp.qp_access_flags, unsigned{IBV_ACCESS_REMOTE_READ});
  EXPECT_EQ(qp.dest_qp_num, 17U);
  EXPECT_EQ(qp.rq_psn, 5U);
  EXPECT_EQ(qp.ah_attr.grh.traffic_class, 104);
  EXPECT_EQ(qp.ah_attr.grh.flow_label, 0x4321U);
  EXPECT_EQ(qp.timeout, 14);
}

TEST_F(NicAcceptorTest, MakesHalfOfItsQueuePairsForPeersAndTakesThemBack) {
  use({"far0"}, {.queue_pairs = 8});
  const Connect wish = wish_of("192.0.2.1");
  auto first = ask(wish);
  auto second = ask(wish);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(device_for(wish), "rejected_limit");
  first = tl::unexpected(Reject{});
  EXPECT_TRUE(soon([&] { return ask(wish).has_value(); }));
}

}  // namespace
}  // namespace rdma_exporter::probe
