// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Queue pairs on a real kernel: two Soft-RoCE devices on a veth pair (guest/fabric.sh), both ends in this
// process. Soft-RoCE's path is emulated software: lower bounds are exact (netem is never early), upper bounds
// are wide, and latencies are measured with a long ACK timeout, so that nothing is retransmitted because the
// guest is slow.
#include "probe/stats/target_stats.h"
#include "tests/lab/probe_verbs_fixture.h"

namespace rdma_exporter::probe {
namespace {

TEST_F(ProbeVerbs, WritesWithoutAnyMemoryOfThePeer) {
  begin(kPatient);
  wait_for_up();
  tick(Op::write, 200);
  ASSERT_EQ(results.rtts(Op::write).size(), 200U) << testing::PrintToString(results.failures());
  EXPECT_GT(results.rtts(Op::write).front(), 1us);
  // Nothing is registered for remote access: an R_Key of 0 is none.
  const std::string regions = output_of("rdma -d res show mr dev rxe0; rdma -d res show mr dev rxe1");
  EXPECT_NE(regions.find("rkey 0x0 "), std::string::npos) << regions;
  EXPECT_EQ(count_of(regions, "rkey 0x"), count_of(regions, "rkey 0x0 ")) << regions;
}

TEST_F(ProbeVerbs, EchoesAndLearnsThePeersOwnDelay) {
  begin(kPatient);
  wait_for_up();
  tick(Op::echo, 50);
  const auto samples = results.samples(Op::echo);
  ASSERT_EQ(samples.size(), 50U) << testing::PrintToString(results.failures());
  for (const Completion& sample : samples) {
    ASSERT_TRUE(sample.peer_delay);
    EXPECT_GT(*sample.peer_delay, 0ns);
    EXPECT_LT(*sample.peer_delay, sample.rtt) << "it is a part of the round trip";
  }
  EXPECT_TRUE(wait_until([&] { return connector.answers == 50U; })) << connector.answers;
}

TEST_F(ProbeVerbs, SeesADelayOfBothDirections) {
  const Netem back("ve1", "delay 0ms");
  begin(kPatient);
  wait_for_up();
  for (const int each : {1, 2, 5, 10, 20}) {
    SCOPED_TRACE(std::to_string(each) + " ms each way");
    expect_delayed(2ms * each, [each] {
      const std::string delay = "delay " + std::to_string(each) + "ms";
      shell("tc qdisc change dev ve1 root netem " + delay);
      return std::make_unique<Netem>("ve0", delay, "tc qdisc change dev ve1 root netem delay 0ms");
    });
  }
}

TEST_F(ProbeVerbs, SeesADelayOfOneDirectionOnce) {
  begin(kPatient);
  wait_for_up();
  expect_delayed(4ms, [] { return std::make_unique<Netem>("ve0", "delay 4ms"); });
  EXPECT_LT(measure(60).front(), 4ms) << "and none without it";
}

TEST_F(ProbeVerbs, SurvivesLossAsLatency) {
  constexpr RcTiming kTiming{.timeout = 15, .retry = 6};
  begin(kTiming);
  wait_for_up();
  for (const std::string loss : {"loss 2%", "loss 5%"}) {
    SCOPED_TRACE(loss);
    const Netem out("ve0", loss);
    const Netem back("ve1", loss);
    results.clear();
    // Twice that share of the operations loses a packet; a hundred of them may be lucky, a thousand are not.
    bool late = false;
    bool suspected = false;
    for (int round = 0; round < 10 && !(late && suspected); ++round) {
      tick(Op::write, 100);
      ASSERT_EQ(results.failures(), std::vector<std::string>());
      const auto rtts = results.rtts(Op::write);
      late = rtts[rtts.size() * 99 / 100 - 1] >= ack_timeout(15) / 2;
      TargetStats stats;
      for (const Completion& sample : results.samples(Op::write)) stats.success(Op::write, sample);
      suspected = stats.snapshot().ops[static_cast<std::size_t>(Op::write)].retransmits > 0;
    }
    EXPECT_TRUE(late) << "p99: what was lost was sent again";
    EXPECT_TRUE(suspected);
  }
}

TEST_F(ProbeVerbs, ReportsABlackHoleWithinItsWindowAndComesBack) {
  begin(kQuick);
  const DetectionWindow window = detection_window(kQuick);
  // A guest that stands still for a second sees the probe's own deadline instead.
  bool named = false;
  for (unsigned round = 0; round < 5 && !named; ++round) {
    wait_for_up();
    results.clear();
    tick(Op::write, 1);
    const Netem out("ve0", "loss 100%");
    const Clock::time_point start = Clock::now();
    tick(Op::write, 1);
    ASSERT_EQ(results.failures().size(), 1U);
    named = results.failures().front() == "write op retry_exc_err";
    EXPECT_GE(Clock::now() - start, window.earliest * 9 / 10) << results.failures().front();
    tick(Op::write, 3);
    EXPECT_EQ(results.failures().size(), 4U) << "ticks go on";
  }
  EXPECT_TRUE(named);
  wait_for_up();
  results.clear();
  tick(Op::write, 1);
  EXPECT_EQ(results.rtts(Op::write).size(), 1U);
  EXPECT_GE(connector.connects, 2U) << "over new queue pairs";
}

TEST_F(ProbeVerbs, FallsBackToEchoesWhereThePeerGrantsNothing) {
  connector.grants = 0;
  begin(kQuick);
  wait_for_up();
  tick(Op::write, 1);
  EXPECT_EQ(results.failures(), std::vector<std::string>{"write op rem_inv_req_err"});
  wait_for_up();
  on(*here, [&] { session->tick_one_sided(Clock::now()); });
  ASSERT_TRUE(wait_until([&] { return results.failures().size() == 2; }));
  EXPECT_EQ(results.failures()[1], "read op rem_inv_req_err");
  wait_for_up();
  tick(Op::echo, 3);
  EXPECT_EQ(results.rtts(Op::echo).size(), 3U);
}

TEST_F(ProbeVerbs, NamesAPeerThatPostsNoReceives) {
  connector.receives = false;
  begin(kQuick);
  wait_for_up();
  tick(Op::echo, 1);
  EXPECT_EQ(results.failures(), std::vector<std::string>{"echo echo rnr_retry_exc_err"});
  wait_for_up();
  tick(Op::write, 1);
  EXPECT_EQ(results.rtts(Op::write).size(), 1U) << "the adapter answers all the same";
}

TEST_F(ProbeVerbs, ReadsWhereWritesAreNotGranted) {
  connector.grants = kGrantRead;
  begin(kPatient, {.one_sided = {Op::read}});
  wait_for_up();
  tick(Op::read, 30);
  EXPECT_EQ(results.rtts(Op::read).size(), 30U) << testing::PrintToString(results.failures());
  for (const Completion& sample : results.samples(Op::read))
    EXPECT_EQ(sample.clock, RttClock::host) << "Soft-RoCE has no other";
}

TEST_F(ProbeVerbs, NamesTheNeighbourThatDoesNotAnswer) {
  // Both devices need the address of the other's neighbour: rxe1's is the one that is taken away.
  const Change neighbour("ip neighbour del 10.9.0.2 dev ve0",
                         "ip neighbour replace 10.9.0.2 lladdr 02:00:00:00:00:02 dev ve0 nud permanent");
  const Netem deaf("ve0", "loss 100%");
  begin(kQuick);
  ASSERT_TRUE(wait_until([&] { return state() == Session::State::backoff; }));
  tick(Op::write, 1);
  ASSERT_EQ(results.failures().size(), 1U);
  EXPECT_TRUE(results.failures()[0] == "write modify ETIMEDOUT" ||
              results.failures()[0] == "write modify EHOSTUNREACH")
      << results.failures()[0];
}

TEST_F(ProbeVerbs, FindsItsAddressAgainWhenItIsBack) {
  begin(kQuick);
  wait_for_up();
  {
    const Change gone("ip address del 10.9.0.1/32 dev ve0",
                      "ip address add 10.9.0.1/32 dev ve0 && "
                      "ip route replace 10.9.0.2/32 dev ve0 src 10.9.0.1 table 100 && "
                      "ip route replace 10.9.0.2/32 dev ve0 src 10.9.0.1 table 101");
    ASSERT_TRUE(wait_until([&] {
      const std::lock_guard lock(events_mutex);
      return std::find(events.begin(), events.end(), "GID_CHANGE") != events.end();
    })) << "the kernel says so";
    tick(Op::write, 1);
    ASSERT_TRUE(wait_until([&] { return state() == Session::State::backoff; }));
    results.clear();
    // at the latest with the next attempt, the address is missed by name
    ASSERT_TRUE(wait_until([&] {
      tick(Op::write, 1);
      return results.failures().back() == "write gid ENOENT";
    })) << results.failures().back();
  }
  wait_for_up();
  results.clear();
  tick(Op::write, 1);
  EXPECT_EQ(results.rtts(Op::write).size(), 1U);
}

TEST_F(ProbeVerbs, LeavesNothingBehindAfterManyConnections) { connect_often(200); }

TEST_F(ProbeVerbs, LeavesNothingBehindAfterManyConnectionsByTheConnectionManager) {
  connector.transport = TransportChoice::rdma_cm;
  connect_often(30);
}

}  // namespace
}  // namespace rdma_exporter::probe
