// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// When a session connects, and when it gives a connection up.
#include "tests/unit/probe/session/session_fixture.h"

namespace rdma_exporter::probe {
namespace {

TEST_F(ProbeSession, ConnectsAtItsFirstStepAndWaitsForTheAnswer) {
  EXPECT_EQ(session->state(), State::idle);
  EXPECT_LE(*session->next_step(), now);
  session->step(now);
  EXPECT_EQ(session->state(), State::connecting);
  EXPECT_EQ(endpoint.one_sided, Op::write);
  EXPECT_FALSE(session->next_step()) << "the connector has its own deadline";
  session->step(now + 1h);
  EXPECT_EQ(endpoint.connects, 1);
}

TEST_F(ProbeSession, ConnectsAnewForTheEchoesBetweenTwoWrites) {
  bring_up();
  session->tick_one_sided(now);
  session->tick_echo(now);
  complete(Op::echo, kWcRnrRetryExceeded);
  EXPECT_EQ(tally.failures.back(), (std::pair{Op::echo, Failure{Stage::echo, "rnr_retry_exc_err"}}));
  now += 1s;
  session->step(now);
  EXPECT_EQ(endpoint.connects, 1) << "a write is out";
  session->tick_echo(now);
  EXPECT_EQ(tally.failures.back(), (std::pair{Op::echo, Failure{Stage::echo, kNotConnected}}));
  complete(Op::write);
  complete(Op::write);
  EXPECT_EQ(tally.successes[Op::write], 1);
  session->step(now);
  EXPECT_LE(*session->next_step(), now);
  session->step(now);
  EXPECT_EQ(endpoint.connects, 2);
  session->connected(now);
  session->tick_echo(now);
  complete(Op::echo);
  EXPECT_EQ(tally.successes[Op::echo], 1);
  EXPECT_EQ(tally.failed(Op::write), 0);
  expect_books_balance();
}

TEST_F(ProbeSession, GoesOnWhileItsLeaseIsInterrupted) {
  bring_up();
  session->interrupted({Stage::tcp, kDeadline});
  for (int i = 0; i < 3; ++i) {
    session->tick_one_sided(now);
    complete(Op::write);
    complete(Op::write);
  }
  EXPECT_EQ(tally.successes[Op::write], 3);
  EXPECT_EQ(endpoint.closes, 0);
  EXPECT_EQ(tally.interruptions, (std::vector{Failure{Stage::tcp, kDeadline}}));
  EXPECT_TRUE(tally.failures.empty());
}

TEST_F(ProbeSession, WaitsLongerAfterEachFailureUpToTheCap) {
  random = 0.999;
  std::vector<std::chrono::seconds> pauses;
  for (int i = 0; i < 9; ++i) {
    session->step(now);
    session->connect_failed(now, {Stage::tcp, "ECONNREFUSED"});
    pauses.push_back(std::chrono::round<std::chrono::seconds>(*session->next_step() - now));
    now = *session->next_step();
  }
  EXPECT_EQ(pauses, (std::vector<std::chrono::seconds>{1s, 2s, 4s, 8s, 16s, 32s, 60s, 60s, 60s}));
}

TEST_F(ProbeSession, WaitsUpToFiveMinutesAfterARefusal) {
  random = 0.999;
  for (int i = 0; i < 12; ++i) {
    session->step(now);
    session->connect_failed(now, {Stage::tls, "rejected"}, JitteredBackoff::kLongCap);
    if (i < 11) now = *session->next_step();
  }
  EXPECT_EQ(std::chrono::round<std::chrono::seconds>(*session->next_step() - now), 300s);
}

TEST_F(ProbeSession, SpreadsItsReturnOverTheWholePause) {
  for (const double value : {0.0, 0.25, 0.75}) {
    random = value;
    make({});
    session->step(now);
    session->connect_failed(now, {Stage::tcp, "ECONNREFUSED"});
    EXPECT_NEAR(std::chrono::duration<double>(*session->next_step() - now).count(), value, 1e-6);
  }
}

TEST_F(ProbeSession, KeepsWaitingLongerWhileConnectionsComeUpButNothingGetsThrough) {
  // The side channel goes through another network: it connects, and the path is a black hole all the same.
  random = 0.999;
  Clock::duration last{};
  for (int i = 0; i < 5; ++i) {
    bring_up();
    session->tick_one_sided(now);
    complete(Op::write, kWcRetryExceeded);
    const Clock::duration pause = *session->next_step() - now;
    EXPECT_GT(pause, last);
    last = pause;
    now = *session->next_step();
  }
}

TEST_F(ProbeSession, ComesBackWithinASecondAfterAnOperationHasWorked) {
  random = 0.999;
  for (int i = 0; i < 6; ++i) {
    session->step(now);
    session->connect_failed(now, {Stage::tcp, "ECONNREFUSED"});
    now = *session->next_step();
  }
  bring_up();
  session->tick_one_sided(now);
  complete(Op::write);
  complete(Op::write);
  session->disturbed(now, {Stage::tcp, kPeerClosed});
  EXPECT_LE(*session->next_step() - now, 1s);
}

TEST_F(ProbeSession, SeesTheEndOfTheLeaseAtOnce) {
  bring_up();
  session->tick_one_sided(now);
  session->disturbed(now, {Stage::tcp, kPeerClosed});
  EXPECT_EQ(endpoint.closes, 1);
  session->tick_one_sided(now);
  EXPECT_EQ(tally.not_sent, (std::vector{std::pair(Op::write, Failure{Stage::tcp, kPeerClosed}),
                                         std::pair(Op::write, Failure{Stage::tcp, kPeerClosed})}));
  EXPECT_TRUE(tally.failures.empty()) << "that a process ended says nothing of the path";
}

TEST_F(ProbeSession, AbandonsAnAttemptToConnectWhenThePortChanges) {
  session->step(now);
  session->disturbed(now, {Stage::local, "port_err"});
  EXPECT_EQ(endpoint.closes, 1);
  session->connected(now);
  EXPECT_EQ(session->state(), State::backoff) << "the answer came too late";
}

TEST_F(ProbeSession, ReplacesItsConnectionBetweenTwoOperationsWhenItsAddressChanges) {
  bring_up();
  session->tick_one_sided(now);
  session->tick_echo(now);
  session->readdressed(now);
  complete(Op::write);
  complete(Op::write);
  session->step(now);
  EXPECT_EQ(endpoint.closes, 0) << "an echo is out";
  complete(Op::echo);
  EXPECT_LE(*session->next_step(), now);
  session->step(now);
  EXPECT_EQ(endpoint.closes, 1);
  session->step(now);
  EXPECT_EQ(endpoint.connects, 2);
  session->readdressed(now);
  session->step(now);
  EXPECT_EQ(endpoint.connects, 3) << "the peer knows the address of before";
  EXPECT_FALSE(session->next_step()) << "until it is connected";
  session->connected(now);
  session->step(now + 1h);
  EXPECT_EQ(endpoint.connects, 3);
  EXPECT_TRUE(tally.failures.empty());
  expect_books_balance();
}

TEST_F(ProbeSession, HurriesWhenThePortIsBack) {
  random = 0.999;
  for (int i = 0; i < 8; ++i) {
    session->step(now);
    session->connect_failed(now, {Stage::gid, "port_down"});
    if (i < 7) now = *session->next_step();
  }
  EXPECT_GT(*session->next_step() - now, 30s);
  session->hurry(now);
  EXPECT_LE(*session->next_step() - now, 1s);
}

TEST_F(ProbeSession, StopsForGood) {
  bring_up();
  session->tick_one_sided(now);
  session->stop();
  EXPECT_EQ(endpoint.closes, 1);
  complete(Op::write, kWcFlushed);
  session->tick_one_sided(now);
  session->step(now + 1h);
  EXPECT_TRUE(tally.failures.empty());
  EXPECT_FALSE(session->next_step());
  EXPECT_EQ(endpoint.connects, 1) << "a removed target is not connected to again";
  EXPECT_EQ(tally.attempts[Op::write], 1);
}

}  // namespace
}  // namespace rdma_exporter::probe
