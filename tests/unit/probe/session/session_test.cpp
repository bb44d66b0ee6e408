// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/session/session.h"

#include "tests/unit/probe/session/session_fixture.h"

namespace rdma_exporter::probe {
namespace {

TEST_F(ProbeSession, RecordsTheOperationBehindTheWarmUp) {
  bring_up();
  session->tick_one_sided(now);
  complete(Op::write, kWcSuccess, 90us);
  EXPECT_EQ(tally.successes[Op::write], 0);
  EXPECT_EQ(tally.warm_ups[Op::write], 1) << "what it took counts elsewhere";
  complete(Op::write, kWcSuccess, 3us);
  EXPECT_EQ(endpoint.posted, (std::vector{Op::write, Op::write}));
  ASSERT_EQ(tally.completions.size(), 1U);
  EXPECT_EQ(tally.completions[0].rtt, 3us);
  EXPECT_EQ(tally.attempts[Op::write], 1);
  EXPECT_FALSE(session->next_step());
}

TEST_F(ProbeSession, RecordsTheFirstOperationWithoutAWarmUp) {
  make({.warm_up = false});
  bring_up();
  session->tick_one_sided(now);
  complete(Op::write, kWcSuccess, 90us);
  EXPECT_EQ(tally.successes[Op::write], 1);
}

TEST_F(ProbeSession, RecordsAtOnceWhatBringsItsOwnWarmUp) {
  make({.one_sided = {Op::read}});
  endpoint.pairs = Op::read;
  bring_up();
  session->tick_one_sided(now);
  complete(Op::read);
  EXPECT_EQ(endpoint.posted, std::vector{Op::read});
  EXPECT_EQ(tally.successes[Op::read], 1);
}

TEST_F(ProbeSession, EchoesOnItsOwnQueuePairBesides) {
  bring_up();
  session->tick_one_sided(now);
  session->tick_echo(now);
  EXPECT_EQ(endpoint.posted, (std::vector{Op::write, Op::echo}));
  complete(Op::echo);
  EXPECT_EQ(tally.successes[Op::echo], 1);
}

TEST_F(ProbeSession, CountsATickThatFindsTheLastOneStillOutAsNeither) {
  bring_up();
  session->tick_one_sided(now);
  now += 100ms;
  session->tick_one_sided(now);
  EXPECT_EQ(tally.attempts[Op::write], 1);
  EXPECT_EQ(tally.overruns[Op::write], 1);
}

TEST_F(ProbeSession, CountsEveryTickWhileAFailureOfThePathKeepsItDown) {
  session->step(now);
  session->connect_failed(now, {Stage::modify, "ETIMEDOUT"});
  session->tick_one_sided(now);
  session->tick_echo(now);
  ASSERT_EQ(tally.failures.size(), 2U);
  EXPECT_EQ(tally.failures[0].second, (Failure{Stage::modify, "ETIMEDOUT"})) << "what keeps it down";
  EXPECT_EQ(tally.failures[1].second, (Failure{Stage::modify, "ETIMEDOUT"}));
  expect_books_balance();
}

TEST_F(ProbeSession, BlamesThePathForNothingThatTheControlConnectionDid) {
  session->tick_one_sided(now);  // not asked yet
  for (const Failure& failure : {Failure{Stage::resolve, "no_such_host"}, Failure{Stage::tcp, "ECONNREFUSED"},
                                 Failure{Stage::tls, "tls"}, Failure{Stage::exchange, "rejected_limit"}}) {
    session->step(now);
    session->connect_failed(now, failure);
    session->tick_one_sided(now);
    session->tick_echo(now);
    EXPECT_EQ(tally.not_sent.back(), std::pair(Op::echo, failure));
    now = *session->next_step();
  }
  EXPECT_EQ(tally.not_sent.size(), 9U);
  EXPECT_TRUE(tally.failures.empty());
  EXPECT_EQ(tally.attempts[Op::write] + tally.attempts[Op::echo], 0);
}

TEST_F(ProbeSession, GoesOnWritingToAHostThatHangs) {
  bring_up();
  for (int i = 0; i < 30; ++i) {
    session->tick_one_sided(now);
    complete(Op::write);
    complete(Op::write);
    if (i % 5 == 0) session->tick_echo(now);  // which nobody answers
    pass(1s);
  }
  EXPECT_EQ(tally.successes[Op::write], 30);
  EXPECT_EQ(tally.failed(Op::write), 0);
  EXPECT_EQ(tally.failed(Op::echo), 6);
  EXPECT_EQ(endpoint.connects, 1);
  EXPECT_EQ(endpoint.closes, 0);
  EXPECT_EQ(session->state(), State::up);
  expect_books_balance();
}

TEST_F(ProbeSession, PostsNoEchoThatThePeerHasNoRoomFor) {
  bring_up();
  endpoint.post_errno = EAGAIN;
  session->tick_echo(now);
  EXPECT_EQ(tally.failures.back(), (std::pair{Op::echo, Failure{Stage::echo, kDeadline}}));
  endpoint.post_errno = 0;
  session->tick_echo(now);
  complete(Op::echo);
  EXPECT_EQ(tally.successes[Op::echo], 1) << "there is room again";
  EXPECT_EQ(session->state(), State::up);
}

}  // namespace
}  // namespace rdma_exporter::probe
