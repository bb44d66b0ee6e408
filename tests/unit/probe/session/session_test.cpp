// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/session/session.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "probe/rdma/wc_status.h"

namespace rdma_exporter::probe {
namespace {

using namespace std::chrono_literals;
using State = Session::State;

struct FakeEndpoint : Endpoint {
  int connects = 0;
  int closes = 0;
  int post_errno = 0;
  std::optional<Op> one_sided;
  std::vector<Op> posted;

  void connect(std::optional<Op> op) override {
    ++connects;
    one_sided = op;
  }
  int post(Op op) override {
    if (post_errno == 0) posted.push_back(op);
    return post_errno;
  }
  void close() override { ++closes; }
  bool paired(Op op) const override { return pairs == op; }
  std::optional<Op> pairs;
};

struct Tally : Recorder {
  std::map<Op, int> attempts, successes, overruns;
  std::vector<std::pair<Op, Failure>> failures;
  std::vector<Completion> completions;
  bool echoes_only = false;

  void attempt(Op op) override { ++attempts[op]; }
  void success(Op op, const Completion& completion) override {
    ++successes[op];
    completions.push_back(completion);
  }
  void failure(Op op, const Failure& failure) override { failures.emplace_back(op, failure); }
  void overrun(Op op) override { ++overruns[op]; }
  void only_echoes() override { echoes_only = true; }
  int failed(Op op) const {
    int count = 0;
    for (const auto& [failed_op, failure] : failures) count += failed_op == op ? 1 : 0;
    return count;
  }
};

class ProbeSession : public testing::Test {
 protected:
  void make(Session::Settings settings) {
    session.emplace(std::move(settings), endpoint, tally, [this] { return random; });
  }
  void bring_up() {
    session->step(now);
    session->connected(now);
    ASSERT_EQ(session->state(), State::up);
  }
  void complete(Op op, int status = kWcSuccess, Clock::duration rtt = 3us) {
    session->completed(op, {.status = status, .rtt = rtt, .peer_delay = {}}, now);
  }
  // Lets the session's own timers run for `time`; the connection, if there is one, does not answer.
  void pass(Clock::duration time) {
    const Clock::time_point end = now + time;
    while (session->next_step() && *session->next_step() <= end && session->state() != State::connecting) {
      now = std::max(now, *session->next_step());
      session->step(now);
    }
    now = end;
  }
  void expect_books_balance() {
    for (const Op op : {Op::write, Op::read, Op::echo})
      EXPECT_EQ(tally.attempts[op], tally.successes[op] + tally.failed(op)) << to_string(op);
  }

  FakeEndpoint endpoint;
  Tally tally;
  double random = 0.5;
  std::optional<Session> session;
  Clock::time_point now{1000s};

  void SetUp() override { make({}); }
};

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

TEST_F(ProbeSession, RecordsTheOperationBehindTheWarmUp) {
  bring_up();
  session->tick_one_sided(now);
  complete(Op::write, kWcSuccess, 90us);
  EXPECT_EQ(tally.successes[Op::write], 0);
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

TEST_F(ProbeSession, CountsEveryTickWhileDown) {
  session->tick_one_sided(now);
  session->step(now);
  session->tick_one_sided(now);
  session->connect_failed(now, {Stage::modify, "ETIMEDOUT"});
  session->tick_one_sided(now);
  session->tick_echo(now);
  ASSERT_EQ(tally.failures.size(), 4U);
  EXPECT_EQ(tally.failures[0].second, (Failure{Stage::control, kNotConnected}));
  EXPECT_EQ(tally.failures[1].second, (Failure{Stage::control, kNotConnected}));
  EXPECT_EQ(tally.failures[2].second, (Failure{Stage::modify, "ETIMEDOUT"})) << "what keeps it down";
  EXPECT_EQ(tally.failures[3].second, (Failure{Stage::modify, "ETIMEDOUT"}));
  expect_books_balance();
}

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

TEST_F(ProbeSession, DropsAConnectionWhoseIdleQueuePairDied) {
  bring_up();
  complete(Op::echo, kWcFlushed);
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
  EXPECT_EQ(session->state(), State::backoff);
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
  session->disturbed(now, {Stage::control, kPeerClosed});
  EXPECT_EQ(session->one_sided(), Op::write);
}

TEST_F(ProbeSession, WaitsLongerAfterEachFailureUpToTheCap) {
  random = 0.999;
  std::vector<std::chrono::seconds> pauses;
  for (int i = 0; i < 9; ++i) {
    session->step(now);
    session->connect_failed(now, {Stage::control, "ECONNREFUSED"});
    pauses.push_back(std::chrono::round<std::chrono::seconds>(*session->next_step() - now));
    now = *session->next_step();
  }
  EXPECT_EQ(pauses, (std::vector<std::chrono::seconds>{1s, 2s, 4s, 8s, 16s, 32s, 60s, 60s, 60s}));
}

TEST_F(ProbeSession, WaitsUpToFiveMinutesAfterARefusal) {
  random = 0.999;
  for (int i = 0; i < 12; ++i) {
    session->step(now);
    session->connect_failed(now, {Stage::auth, "rejected"}, Backoff::kLongCap);
    if (i < 11) now = *session->next_step();
  }
  EXPECT_EQ(std::chrono::round<std::chrono::seconds>(*session->next_step() - now), 300s);
}

TEST_F(ProbeSession, SpreadsItsReturnOverTheWholePause) {
  for (const double value : {0.0, 0.25, 0.75}) {
    random = value;
    make({});
    session->step(now);
    session->connect_failed(now, {Stage::control, "ECONNREFUSED"});
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
    session->connect_failed(now, {Stage::control, "ECONNREFUSED"});
    now = *session->next_step();
  }
  bring_up();
  session->tick_one_sided(now);
  complete(Op::write);
  complete(Op::write);
  session->disturbed(now, {Stage::control, kPeerClosed});
  EXPECT_LE(*session->next_step() - now, 1s);
}

TEST_F(ProbeSession, SeesTheEndOfTheLeaseAtOnce) {
  bring_up();
  session->tick_one_sided(now);
  session->disturbed(now, {Stage::control, kPeerClosed});
  EXPECT_EQ(endpoint.closes, 1);
  session->tick_one_sided(now);
  ASSERT_EQ(tally.failures.size(), 2U);
  EXPECT_EQ(tally.failures[0].second, (Failure{Stage::control, kPeerClosed}));
  EXPECT_EQ(tally.failures[1].second, (Failure{Stage::control, kPeerClosed}));
  expect_books_balance();
}

TEST_F(ProbeSession, AbandonsAnAttemptToConnectWhenThePortChanges) {
  session->step(now);
  session->disturbed(now, {Stage::local, "port_err"});
  EXPECT_EQ(endpoint.closes, 1);
  session->connected(now);
  EXPECT_EQ(session->state(), State::backoff) << "the answer came too late";
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

TEST_F(ProbeSession, FailsOnItsOwnSideWhenItCannotPost) {
  bring_up();
  endpoint.post_errno = ENOMEM;
  session->tick_one_sided(now);
  ASSERT_EQ(tally.failures.size(), 1U);
  EXPECT_EQ(tally.failures[0].second, (Failure{Stage::local, "ENOMEM"}));
  EXPECT_EQ(session->state(), State::backoff);
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
