// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/rdma/connection/rc_endpoint.h"

#include <atomic>
#include <map>
#include <mutex>
#include <vector>

#include "probe/rdma/connection/echo_answerer.h"
#include "tests/unit/probe/verbs_fixture.h"

// A session over queue pairs whose other ends the test holds.
namespace rdma_exporter::probe {
namespace {

struct Recorded : Recorder {
  void attempt(Op) override {}
  void success(Op op, const Completion& completion) override {
    const std::lock_guard lock(mutex);
    successes[op].push_back(completion);
  }
  void failure(Op op, const Failure& failure) override {
    const std::lock_guard lock(mutex);
    failures.emplace_back(op, failure);
  }
  void overrun(Op) override {}
  void warmed_up(Op, const Completion&) override {}
  void unsent(Op, const Failure& why) override { interrupted(why); }
  void interrupted(const Failure& why) override {
    const std::lock_guard lock(mutex);
    control_failures.push_back(why);
  }
  std::size_t control_failed() const {
    const std::lock_guard lock(mutex);
    return control_failures.size();
  }

  std::vector<Completion> of(Op op) const {
    const std::lock_guard lock(mutex);
    const auto found = successes.find(op);
    return found == successes.end() ? std::vector<Completion>() : found->second;
  }
  std::vector<std::pair<Op, Failure>> failed() const {
    const std::lock_guard lock(mutex);
    return failures;
  }

 private:
  mutable std::mutex mutex;
  std::map<Op, std::vector<Completion>> successes;
  std::vector<std::pair<Op, Failure>> failures;
  std::vector<Failure> control_failures;
};

/// Answers when the test says so.
struct TestConnector : Connector {
  void connect(std::optional<Op> /*one_sided*/, Done done, Lease lease) override {
    const std::lock_guard lock(mutex);
    asked.push_back(std::move(done));
    leases.push_back(std::move(lease));
  }
  std::size_t calls() const {
    const std::lock_guard lock(mutex);
    return asked.size();
  }
  void answer(std::size_t call, Connection connection) {
    Done done;
    {
      const std::lock_guard lock(mutex);
      done = asked.at(call);
    }
    done(std::move(connection));
  }
  void lose(std::size_t call) {
    const std::lock_guard lock(mutex);
    leases.at(call).lost({Stage::tcp, kPeerClosed});
  }
  void interrupt(std::size_t call) {
    const std::lock_guard lock(mutex);
    leases.at(call).interrupted({Stage::tcp, kDeadline});
  }

 private:
  mutable std::mutex mutex;
  std::vector<Done> asked;
  std::vector<Lease> leases;
};

class RcEndpointTest : public VerbsTest {
 protected:
  void start(Session::Settings settings) {
    session.emplace(std::move(settings), *endpoint, recorded, [] { return 0.0; });
    endpoint->serve(*session);
    near_loop->add({[this](Clock::time_point now) {
                      session->step(now);
                      return session->next_step();
                    },
                    [](const DeviceEvent&) {}});
    near_loop->start();
    far_loop->start();
    ASSERT_TRUE(soon([this] { return connector.calls() == 1; }));
  }
  void TearDown() override {
    on(*near_loop, [this] { endpoint.reset(); });
    on(*far_loop, [this] { answerer.reset(); });
    workers.stop();
    far_end.reset();
    near_loop.reset();
    far_loop.reset();
    VerbsTest::TearDown();
  }
  Connection made(bool stamps = false) {
    auto near_end = end_of(*near_loop, wanted_end(stamps));
    far_end = end_of(*far_loop, offered_end(kGrantWrite | kGrantRead));
    PathSettings path;
    EXPECT_TRUE(connect_qp_pair(*near_end, far_end->local, path));
    EXPECT_TRUE(connect_qp_pair(*far_end, near_end->local, path));
    Connection connection;
    connection.peer = far_end->local;
    connection.pair = std::move(near_end);
    return connection;
  }
  void connect(bool stamps = false) {
    connector.answer(connector.calls() - 1, made(stamps));
    EXPECT_TRUE(soon([this] { return state() == Session::State::up; }));
  }
  void answer_echoes() {
    on(*far_loop, [this] { answerer.emplace(*far_loop, far_end, answers); });
  }
  Session::State state() {
    Session::State now{};
    on(*near_loop, [&] { now = session->state(); });
    return now;
  }
  void tick_echo() {
    on(*near_loop, [this] { session->tick_echo(Clock::now()); });
  }
  void tick_one_sided() {
    on(*near_loop, [this] { session->tick_one_sided(Clock::now()); });
  }
  void send_from_far(const EchoMessage& message) { far_end->echo->post_send(encode_echo(message), 0); }
  bool succeeded(Op op, std::size_t times) {
    return soon([&] { return recorded.of(op).size() == times; });
  }

  std::unique_ptr<DeviceLoop> near_loop = loop_of("near0");
  std::unique_ptr<DeviceLoop> far_loop = loop_of("far0");
  Workers workers{2};
  TestConnector connector;
  Recorded recorded;
  std::optional<RcEndpoint> endpoint{std::in_place, *near_loop, workers, connector};
  std::optional<Session> session;
  std::shared_ptr<QpPair> far_end;
  std::atomic<std::uint64_t> answers{0};
  std::optional<EchoAnswerer> answerer;
};

TEST_F(RcEndpointTest, TakesTheAnswerToItsOwnEchoAndNoOther) {
  start({});
  connect();
  tick_echo();
  for (const EchoMessage& other :
       {EchoMessage{7, true, 1ms}, EchoMessage{0, true, 1ms}, EchoMessage{1, false, {}}})
    send_from_far(other);
  std::this_thread::sleep_for(20ms);
  EXPECT_TRUE(recorded.of(Op::echo).empty());
  send_from_far({1, true, 3us});
  ASSERT_TRUE(succeeded(Op::echo, 1));
  EXPECT_EQ(recorded.of(Op::echo)[0].peer_delay, 3us);
  EXPECT_GE(recorded.of(Op::echo)[0].rtt, 20ms);
}

TEST_F(RcEndpointTest, EchoesForEverAndMeasuresEachByItself) {
  start({});
  connect();
  answer_echoes();
  constexpr std::size_t kEchoes = 4 * VerbsQp::kReceives;
  for (std::size_t i = 1; i <= kEchoes; ++i) {
    tick_echo();
    ASSERT_TRUE(succeeded(Op::echo, i)) << i;
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_EQ(answers, kEchoes);
  std::vector<std::chrono::nanoseconds> times;
  for (const Completion& echo : recorded.of(Op::echo)) {
    times.push_back(echo.rtt);
    EXPECT_TRUE(echo.peer_delay);
  }
  std::sort(times.begin(), times.end());
  EXPECT_LT(times[kEchoes / 2], 50ms) << "and not since the first";
  EXPECT_TRUE(recorded.failed().empty());
}

TEST_F(RcEndpointTest, AnswersEchoesAndNoAnswers) {
  start({});
  connect();
  answer_echoes();
  near_loop->post([this] { endpoint->connection().pair->echo->post_send(encode_echo({5, true, 1us}), 0); });
  std::this_thread::sleep_for(20ms);
  tick_echo();
  ASSERT_TRUE(succeeded(Op::echo, 1));
  EXPECT_EQ(answers, 1U);
}

TEST_F(RcEndpointTest, RecordsAWriteBehindItsWarmUp) {
  start({});
  connect();
  tick_one_sided();
  ASSERT_TRUE(succeeded(Op::write, 1));
  EXPECT_GE(recorded.of(Op::write)[0].rtt, 20us) << "what the network takes";
  EXPECT_EQ(recorded.of(Op::write)[0].clock, RttClock::host);
}

TEST_F(RcEndpointTest, SaysWhatTheAdapterSaidOfAFailure) {
  start({});
  connect();
  fabric.fail_with(IBV_WC_RETRY_EXC_ERR);
  tick_one_sided();
  ASSERT_TRUE(soon([this] { return !recorded.failed().empty(); }));
  EXPECT_EQ(recorded.failed()[0].first, Op::write);
  EXPECT_EQ(recorded.failed()[0].second, (Failure{Stage::op, "retry_exc_err"}));
  EXPECT_TRUE(recorded.of(Op::write).empty());
  EXPECT_NE(state(), Session::State::up);
}

TEST_F(RcEndpointTest, SaysSoWhenAnEchoCannotBeSent) {
  start({});
  connect();
  fabric.fail_with(IBV_WC_RNR_RETRY_EXC_ERR);
  tick_echo();
  ASSERT_TRUE(soon([this] { return !recorded.failed().empty(); }));
  EXPECT_EQ(recorded.failed()[0].second, (Failure{Stage::echo, "rnr_retry_exc_err"}));
}

TEST_F(RcEndpointTest, GivesUpAnEchoThatIsNotAnswered) {
  start({.timing = {.timeout = 12, .retry = 0}});
  connect();
  fabric.lose_sends(true);
  const auto begin = Clock::now();
  tick_echo();
  ASSERT_TRUE(soon([this] { return !recorded.failed().empty(); }));
  EXPECT_EQ(recorded.failed()[0].second, (Failure{Stage::echo, kDeadline}));
  EXPECT_GE(Clock::now() - begin, 1s);
}

TEST_F(RcEndpointTest, TakesNoLateAnswerForThatOfTheNextEcho) {
  start({.timing = {.timeout = 12, .retry = 0}});
  connect();
  tick_echo();
  ASSERT_TRUE(soon([this] { return !recorded.failed().empty(); })) << "nobody answers";
  tick_echo();
  send_from_far({1, true, 1us});
  std::this_thread::sleep_for(20ms);
  EXPECT_TRUE(recorded.of(Op::echo).empty());
  send_from_far({2, true, 3us});
  ASSERT_TRUE(succeeded(Op::echo, 1));
  EXPECT_EQ(recorded.of(Op::echo)[0].peer_delay, 3us);
}

TEST_F(RcEndpointTest, MeasuresReadsByTheAdaptersClock) {
  fabric.set_clock(1'000'000);
  start({.one_sided = {Op::read}});
  connect(true);
  EXPECT_TRUE(endpoint->paired(Op::read));
  for (std::size_t i = 1; i <= 3; ++i) {
    tick_one_sided();
    ASSERT_TRUE(succeeded(Op::read, i)) << i;
  }
  for (const Completion& read : recorded.of(Op::read)) {
    EXPECT_EQ(read.clock, RttClock::nic);
    EXPECT_GE(read.rtt, 19us) << "of the second alone";
    EXPECT_FALSE(read.slept);
  }
  EXPECT_TRUE(recorded.failed().empty());
}

TEST_F(RcEndpointTest, LeavesAConnectionThatComesTooLateToNobody) {
  start({});
  auto late = made();
  const std::uint32_t number = late.pair->one_sided->numbers().number;
  on(*near_loop, [this] { session->disturbed(Clock::now(), {Stage::local, "port_down"}); });
  ASSERT_TRUE(soon([this] { return connector.calls() == 2; }));
  connector.answer(0, std::move(late));
  EXPECT_TRUE(soon([&] { return !record_of(number).exists; })) << "its queue pairs are given back";
  EXPECT_EQ(state(), Session::State::connecting);
  connect();
}

TEST_F(RcEndpointTest, FailsWithItsLeaseAndOfNoOther) {
  start({});
  connect();
  connector.lose(0);
  ASSERT_TRUE(soon([this] { return connector.calls() == 2; }));
  connect();
  connector.lose(0);
  EXPECT_EQ(state(), Session::State::up) << "of a connection that is gone";
}

}  // namespace
}  // namespace rdma_exporter::probe
