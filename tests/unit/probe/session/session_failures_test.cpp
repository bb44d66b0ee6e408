// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// What a session makes of operations that fail.
#include "tests/unit/probe/session/session_fixture.h"

namespace rdma_exporter::probe {
namespace {

TEST_F(ProbeSession, MakesANewConnectionAfterAnyError) {
  for (const int status : {kWcRetryExceeded, kWcRnrRetryExceeded, 10, 2, 21}) {
    make({});
    endpoint = {};
    tally = {};
    bring_up();
    session->tick_one_sided(now);
    complete(Op::write, status);
    EXPECT_EQ(endpoint.closes, 1);
    EXPECT_EQ(session->state(), State::backoff);
    ASSERT_EQ(tally.failures.size(), 1U);
    EXPECT_EQ(tally.failures[0].second, (Failure{Stage::op, wc_status_name(status)}));
    pass(2s);
    EXPECT_EQ(endpoint.connects, 2);
    expect_books_balance();
  }
}

TEST_F(ProbeSession, KeepsTheFirstCauseWhenFlushesComeBeforeIt) {
  bring_up();
  session->tick_echo(now);
  complete(Op::echo, kWcFlushed);
  complete(Op::echo, kWcRnrRetryExceeded);
  complete(Op::echo, kWcFlushed);
  ASSERT_EQ(tally.failures.size(), 1U);
  EXPECT_EQ(tally.failures[0].second, (Failure{Stage::echo, "rnr_retry_exc_err"}));
}

TEST_F(ProbeSession, NeverReportsAFlushEvenIfNoCauseComes) {
  bring_up();
  session->tick_one_sided(now);
  complete(Op::write, kWcFlushed);
  EXPECT_TRUE(tally.failures.empty());
  pass(100ms);
  ASSERT_EQ(tally.failures.size(), 1U);
  EXPECT_EQ(tally.failures[0].second, (Failure{Stage::op, kNotConnected}));
  EXPECT_EQ(session->state(), State::backoff);
}

TEST_F(ProbeSession, WaitsForTheCauseBehindAFlush) {
  bring_up();
  session->tick_one_sided(now);
  complete(Op::write, kWcFlushed);
  pass(10ms);
  EXPECT_TRUE(tally.failures.empty());
  complete(Op::write, kWcRetryExceeded);
  ASSERT_EQ(tally.failures.size(), 1U);
  EXPECT_EQ(tally.failures[0].second, (Failure{Stage::op, "retry_exc_err"}));
}

TEST_F(ProbeSession, DropsAConnectionWhoseIdleQueuePairDied) {
  bring_up();
  complete(Op::write, kWcFlushed);
  EXPECT_EQ(session->state(), State::backoff);
  EXPECT_TRUE(tally.failures.empty());
}

TEST_F(ProbeSession, GivesUpByItsOwnClockWhenNothingIsReported) {
  bring_up();
  session->tick_echo(now);  // the peer is stopped: SEND is acknowledged, the answer never comes
  EXPECT_EQ(*session->next_step(), now + operation_deadline(RcTiming{}));
  pass(1200ms);
  ASSERT_EQ(tally.failures.size(), 1U);
  EXPECT_EQ(tally.failures[0], (std::pair{Op::echo, Failure{Stage::echo, kDeadline}}));
  EXPECT_EQ(session->state(), State::up);
  session->tick_one_sided(now);
  pass(1200ms);
  EXPECT_EQ(tally.failures.back(), (std::pair{Op::write, Failure{Stage::op, kDeadline}}));
  EXPECT_EQ(session->state(), State::backoff) << "what became of the queue pair nobody knows";
}

TEST_F(ProbeSession, FailsTheOtherOperationWithTheConnection) {
  bring_up();
  session->tick_one_sided(now);
  session->tick_echo(now);
  complete(Op::write, kWcRetryExceeded);
  ASSERT_EQ(tally.failures.size(), 2U);
  EXPECT_EQ(tally.failures[1], (std::pair{Op::echo, Failure{Stage::op, kNotConnected}}));
  expect_books_balance();
}

TEST_F(ProbeSession, IgnoresCompletionsOfAConnectionThatIsGone) {
  bring_up();
  session->tick_one_sided(now);
  complete(Op::write, kWcRetryExceeded);
  complete(Op::write, kWcFlushed);
  complete(Op::write);
  EXPECT_EQ(tally.failures.size(), 1U);
  EXPECT_EQ(tally.successes[Op::write], 0);
}

TEST_F(ProbeSession, FallsBackToWhatThePeerTakes) {
  bring_up();
  session->tick_one_sided(now);
  complete(Op::write, kWcInvalidRequest);
  EXPECT_EQ(tally.failures[0].second, (Failure{Stage::op, "rem_inv_req_err"}));
  pass(1s);
  EXPECT_EQ(endpoint.one_sided, Op::read);
  session->connected(now);
  session->tick_one_sided(now);
  EXPECT_FALSE(tally.echoes_only);
  complete(Op::read, kWcInvalidRequest);
  EXPECT_TRUE(tally.echoes_only);
  pass(1s);
  EXPECT_EQ(endpoint.one_sided, std::nullopt);
  session->connected(now);
  session->tick_one_sided(now);
  EXPECT_EQ(tally.attempts[Op::write] + tally.attempts[Op::read], 2) << "there is no such operation any more";
  session->tick_echo(now);
  complete(Op::echo);
  EXPECT_EQ(tally.successes[Op::echo], 1);
}

TEST_F(ProbeSession, TakesOtherWordsForARefusalOnce) {
  for (const int status : {kWcAccessError, kWcGeneralError}) {
    make({});
    bring_up();
    session->tick_one_sided(now);
    complete(Op::write, status);
    EXPECT_EQ(session->one_sided(), Op::read) << wc_status_name(status);
    EXPECT_EQ(tally.failures.back().second, (Failure{Stage::op, wc_status_name(status)}));
    pass(1s);
    session->connected(now);
    session->tick_one_sided(now);
    complete(Op::read, status);
    EXPECT_EQ(session->one_sided(), Op::read) << "an adapter that fails at everything refuses nothing";
  }
  EXPECT_FALSE(tally.echoes_only);
}

TEST_F(ProbeSession, GoesOnFailingAtAPeerThatTakesNothing) {
  random = 0.999;
  make({.echo = false});
  std::vector<std::chrono::seconds> pauses;
  std::vector<std::optional<Op>> asked;
  for (int i = 0; i < 6; ++i) {
    bring_up();
    asked.push_back(endpoint.one_sided);
    session->tick_one_sided(now);
    complete(*session->one_sided(), kWcInvalidRequest);
    pauses.push_back(std::chrono::round<std::chrono::seconds>(*session->next_step() - now));
    session->tick_one_sided(now);  // without a connection
    now = *session->next_step();
  }
  EXPECT_EQ(asked,
            (std::vector<std::optional<Op>>{Op::write, Op::read, Op::write, Op::read, Op::write, Op::read}));
  EXPECT_EQ(pauses, (std::vector<std::chrono::seconds>{1s, 2s, 4s, 8s, 16s, 32s}));
  EXPECT_EQ(tally.failures.size(), 12U) << "every tick is one";
  EXPECT_EQ(tally.failures.back(), std::pair(Op::write, Failure{Stage::op, "rem_inv_req_err"}));
  EXPECT_FALSE(tally.echoes_only);
  expect_books_balance();
}

TEST_F(ProbeSession, DoesNotFallBackFromWhatHasWorked) {
  bring_up();
  session->tick_one_sided(now);
  complete(Op::write);
  complete(Op::write);
  session->tick_one_sided(now);
  complete(Op::write, kWcInvalidRequest);
  EXPECT_EQ(session->one_sided(), Op::write);
  EXPECT_EQ(session->state(), State::backoff);
}

TEST_F(ProbeSession, TriesEveryOperationAgainWithAPeerThatCameBack) {
  bring_up();
  session->tick_one_sided(now);
  complete(Op::write, kWcInvalidRequest);
  pass(1s);
  session->connected(now);
  session->disturbed(now, {Stage::tcp, kPeerClosed});
  EXPECT_EQ(session->one_sided(), Op::write);
}

TEST_F(ProbeSession, FailsOnItsOwnSideWhenItCannotPost) {
  bring_up();
  endpoint.post_errno = ENOMEM;
  session->tick_one_sided(now);
  ASSERT_EQ(tally.failures.size(), 1U);
  EXPECT_EQ(tally.failures[0].second, (Failure{Stage::local, "ENOMEM"}));
  EXPECT_EQ(session->state(), State::backoff);
}

}  // namespace
}  // namespace rdma_exporter::probe
