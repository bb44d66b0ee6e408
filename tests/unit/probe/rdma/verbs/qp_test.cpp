// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/rdma/verbs/qp.h"

#include <poll.h>

#include "probe/rdma/verbs/wc_status.h"
#include "tests/unit/probe/verbs_fixture.h"

namespace rdma_exporter::probe {
namespace {

/// Two ends that are connected, before anything is posted.
class VerbsQpTest : public VerbsTest {
 protected:
  void connect(unsigned remote = kGrantWrite) {
    near_end = end_of(*near_loop, wanted_end());
    far_end = end_of(*far_loop, offered_end(remote));
    path.timing.timeout = 15;
    path.timing.retry = 4;
    path.traffic_class = 106;
    path.flow_label = 0x12345;
    path.service_level = 3;
    ASSERT_TRUE(connect_qp_pair(*near_end, far_end->local, path));
    ASSERT_TRUE(connect_qp_pair(*far_end, near_end->local, path));
  }
  void TearDown() override {
    near_end.reset();
    far_end.reset();
    near_loop.reset();
    far_loop.reset();
    VerbsTest::TearDown();
  }
  /// The next completion of the near end's queue.
  WorkCompletion completion() const {
    std::array<WorkCompletion, 1> one;
    EXPECT_TRUE(soon([&] { return near_loop->cq()->poll(one).value() == 1; }));
    return one[0];
  }
  FakeQpRecord one_sided(const QpPair& end) const { return record_of(end.one_sided->numbers().number); }

  std::unique_ptr<DeviceLoop> near_loop = loop_of("near0");
  std::unique_ptr<DeviceLoop> far_loop = loop_of("far0");
  std::shared_ptr<QpPair> near_end;
  std::shared_ptr<QpPair> far_end;
  PathSettings path;
};

TEST_F(VerbsQpTest, KnowsThePeersNumberAndFirstPacket) {
  connect();
  const auto near_side = one_sided(*near_end).attributes;
  const auto far_side = one_sided(*far_end).attributes;
  EXPECT_EQ(near_side.dest_qp_num, far_end->one_sided->numbers().number);
  EXPECT_EQ(near_side.rq_psn, far_side.sq_psn);
  EXPECT_EQ(far_side.rq_psn, near_side.sq_psn);
  EXPECT_EQ(near_end->local.one_sided.psn, near_side.sq_psn);
  EXPECT_NE(near_side.sq_psn, far_side.sq_psn);
  ASSERT_EQ(near_end->one_sided->post_one_sided(false, 7), 0);
  const auto done = completion();
  EXPECT_EQ(done.id, 7U);
  EXPECT_EQ(done.status, kWcSuccess);
}

TEST_F(VerbsQpTest, SendsAlongThePathThatWasAgreedOn) {
  connect();
  for (const auto* end : {near_end.get(), far_end.get()}) {
    const auto qp = one_sided(*end).attributes;
    EXPECT_EQ(qp.path_mtu, IBV_MTU_1024) << "the smaller one of both";
    EXPECT_EQ(qp.timeout, 15);
    EXPECT_EQ(qp.retry_cnt, 4);
    EXPECT_EQ(qp.ah_attr.sl, 3);
    EXPECT_EQ(qp.ah_attr.is_global, 1);
    EXPECT_EQ(qp.ah_attr.grh.flow_label, 0x12345U);
    EXPECT_EQ(qp.ah_attr.grh.traffic_class, 106);
    EXPECT_EQ(qp.ah_attr.grh.sgid_index, 3) << "not the link-local address";
    EXPECT_EQ(qp.max_rd_atomic, 1);
    EXPECT_EQ(qp.max_dest_rd_atomic, 1);
  }
}

TEST_F(VerbsQpTest, SendsByLidOnInfinibandAndByGidTooWhereThePortNeedsIt) {
  for (const bool shares_lid : {false, true}) {
    fabric.set_port("near0", 1, infiniband_port(17, "fe80::17", shares_lid ? IBV_QPF_GRH_REQUIRED : 0));
    fabric.set_port("far0", 1, infiniband_port(18, "fe80::18"));
    connect();
    const ibv_ah_attr to = one_sided(*near_end).attributes.ah_attr;
    EXPECT_EQ(to.dlid, 18);
    EXPECT_EQ(to.is_global, shares_lid ? 1 : 0);
    EXPECT_EQ(to.grh.dgid.raw[15], shares_lid ? 0x18 : 0);
    ASSERT_EQ(near_end->one_sided->post_one_sided(false, 7), 0);
    EXPECT_EQ(completion().status, kWcSuccess);
  }
}

TEST_F(VerbsQpTest, GivesAPeerWhatItAskedForAndNoMore) {
  connect(kGrantRead);
  EXPECT_EQ(one_sided(*far_end).attributes.qp_access_flags, unsigned{IBV_ACCESS_REMOTE_READ});
  EXPECT_EQ(one_sided(*near_end).attributes.qp_access_flags, 0U) << "a prober gives nothing";
  EXPECT_EQ(record_of(far_end->echo->numbers().number).attributes.qp_access_flags, 0U);
  ASSERT_EQ(near_end->one_sided->post_one_sided(true, 1), 0);
  EXPECT_EQ(completion().status, kWcSuccess);
  ASSERT_EQ(near_end->one_sided->post_one_sided(false, 2), 0);
  EXPECT_EQ(completion().status, kWcInvalidRequest);
}

TEST_F(VerbsQpTest, KeepsWhatPeersReachApartFromWhatIsItsOwn) {
  connect();
  const auto domain = [&](const VerbsQp& qp) { return record_of(qp.numbers().number).domain; };
  EXPECT_EQ(domain(*near_end->one_sided), near_loop->device()->requester_domain());
  EXPECT_EQ(domain(*near_end->echo), near_loop->device()->requester_domain());
  EXPECT_EQ(domain(*far_end->one_sided), far_loop->device()->responder_domain());
  EXPECT_EQ(domain(*far_end->echo), far_loop->device()->responder_domain()) << "a peer sends there";
}

TEST_F(VerbsQpTest, NeedsAQueuePairAtThePeer) {
  connect();
  QpPairAddress none = far_end->local;
  none.echo = {};
  const auto end = end_of(*near_loop, wanted_end());
  const auto connected = connect_qp_pair(*end, none, path);
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error().stage, Stage::exchange);
}

TEST_F(VerbsQpTest, CarriesAnEchoIntoTheSlotThatIsNext) {
  connect();
  const EchoMessage message{77, false, 5ms};
  ASSERT_EQ(near_end->echo->post_send(encode_echo(message), 9), 0);
  EXPECT_EQ(completion().id, 9U);
  std::array<WorkCompletion, 1> arrived;
  ASSERT_TRUE(soon([&] { return far_loop->cq()->poll(arrived).value() == 1; }));
  EXPECT_EQ(arrived[0].bytes, kEchoSize);
  const auto slot = static_cast<unsigned>(arrived[0].id & 0xff) - kReceiveWork;
  const auto decoded = decode_echo(far_end->echo->received(slot));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->number, 77U);
  EXPECT_EQ(decoded->delay, 5ms);
}

TEST_F(VerbsQpTest, AcknowledgesTheEventsOfItsQueueBeforeThatGoes) {
  connect();
  VerbsCq& queue = *near_loop->cq();
  ASSERT_TRUE(queue.arm());
  ASSERT_EQ(near_end->one_sided->post_one_sided(false, 1), 0);
  pollfd readable{queue.fd(), POLLIN, 0};
  ASSERT_EQ(::poll(&readable, 1, 10'000), 1);
  queue.take_events();
  EXPECT_EQ(::poll(&readable, 1, 0), 0);
  EXPECT_EQ(completion().id, 1U);
}  // TearDown() looks at the rest

TEST_F(VerbsQpTest, IsAsLongAsItsPeerIsThere) {
  connect();
  far_end.reset();
  ASSERT_EQ(near_end->one_sided->post_one_sided(false, 1), 0);
  EXPECT_EQ(completion().status, kWcRetryExceeded);
  EXPECT_NE(near_end->one_sided->post_one_sided(false, 2), 0) << "a queue pair in error takes nothing";
}

}  // namespace
}  // namespace rdma_exporter::probe
