// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Queue pairs on a real kernel: two Soft-RoCE devices on a veth pair (guest/fabric.sh), both ends in this
// process. Soft-RoCE's own path is software under emulation: lower bounds are exact (netem is never early),
// upper bounds are wide, and latencies are measured with a long ACK timeout, so that nothing is sent twice
// because the guest is slow.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>

#include "probe/target_stats.h"
#include "tests/lab/fake_adapter_clock.h"
#include "tests/lab/probe_fixture.h"

namespace rdma_exporter::probe {
namespace {

using std::chrono::nanoseconds;

constexpr RcTiming kPatient{.timeout = 16, .retry = 6};
constexpr RcTiming kQuick{.timeout = 14, .retry = 3};

std::string output_of(const std::string& command) {
  std::string output;
  std::FILE* pipe = ::popen(command.c_str(), "r");
  std::array<char, 4096> buffer;
  for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    output.append(buffer.data(), n);
  ::pclose(pipe);
  return output;
}

std::size_t count_of(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

class ProbeVerbs : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (std::system("test -e /lab/version") != 0) GTEST_SKIP() << "this runs in the lab's guest";
  }

  void begin(const RcTiming& timing, Session::Settings settings = {}) {
    settings.timing = timing;
    connector.path.timing = timing;
    here->add({[this](Clock::time_point now) { return advance(now); },
               [this](const DeviceEvent& event) { on_event(event); }});
    there->add({[](Clock::time_point) { return std::nullopt; }, [](const DeviceEvent&) {}});
    session.emplace(std::move(settings), endpoint, results, [this] { return pause; });
    endpoint.serve(*session);
    there->start();
    here->start();
  }

  std::optional<Clock::time_point> advance(Clock::time_point now) {
    session->step(now);
    return session->next_step();
  }

  void on_event(const DeviceEvent& event) {
    const std::lock_guard lock(events_mutex);
    events.emplace_back(event.name);
  }

  Session::State state() {
    Session::State state{};
    on(*here, [&] { state = session->state(); });
    return state;
  }

  bool wait_until(const std::function<bool()>& holds, std::chrono::milliseconds time = 15s) {
    const Clock::time_point end = Clock::now() + time;
    bool held = holds();
    for (; !held && Clock::now() < end; held = holds()) std::this_thread::sleep_for(5ms);
    return held;
  }

  void wait_for_up() {
    ASSERT_TRUE(wait_until([&] { return state() == Session::State::up; }))
        << testing::PrintToString(results.failures());
  }

  // `count` ticks, each after the one before has come to something.
  void tick(Op op, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t before = results.rtts(op).size() + results.failures().size();
      on(*here, [&] {
        if (op == Op::echo)
          session->tick_echo(Clock::now());
        else
          session->tick_one_sided(Clock::now());
      });
      ASSERT_TRUE(wait_until([&] { return results.rtts(op).size() + results.failures().size() > before; }));
    }
  }

  std::vector<nanoseconds> measure(std::size_t samples) {
    results.clear();
    tick(Op::write, samples);
    EXPECT_EQ(results.rtts(Op::write).size(), samples) << testing::PrintToString(results.failures());
    return results.rtts(Op::write);
  }

  // The lower bound is strict. The upper one is on the median of the best of five rounds, and leaves more
  // room where the guest gets so little of the processors that the path without a delay is slow.
  void expect_delayed(nanoseconds round_trip, const std::function<std::unique_ptr<Change>()>& delay) {
    nanoseconds beyond = nanoseconds::max();
    for (int round = 0; round < 5 && beyond > 0ns; ++round) {
      const nanoseconds without = measure(60)[30];
      const std::unique_ptr<Change> delayed = delay();
      const auto with = measure(60);
      ASSERT_GE(with.front(), round_trip) << "netem is never early";
      const nanoseconds own = 3ms + 4 * without;
      beyond = std::min<nanoseconds>(beyond, with[30] - (round_trip * 105 / 100 + own));
    }
    EXPECT_LE(beyond.count(), 0);
  }

  void connect_often(unsigned times) {
    const std::string before = output_of("rdma res show");
    pause = 0.01;
    begin(kPatient);
    for (unsigned i = 1; i <= times; ++i) {
      wait_for_up();
      tick(Op::write, 1);
      tick(Op::echo, 1);
      on(*here, [&] { session->disturbed(Clock::now(), {Stage::control, kPeerClosed}); });
      ASSERT_TRUE(wait_until([&] { return connector.connects > i; })) << i;
    }
    on(*here, [&] { session->stop(); });
    ASSERT_TRUE(wait_until([&] { return output_of("rdma res show") == before; }))
        << before << output_of("rdma res show");
  }

  void TearDown() override {
    if (!session) return;
    on(*here, [&] { session->stop(); });
    workers.stop();
    on(*here, [] {});  // what came too late is given back before the loops end
    here.reset();      // their threads call the session until then
    there.reset();
  }

  Workers workers{2};
  std::unique_ptr<DeviceLoop> here = open_loop("rxe0");
  std::unique_ptr<DeviceLoop> there = open_loop("rxe1");
  DirectConnector connector{workers, *here, *there};
  RcEndpoint endpoint{*here, workers, connector};
  double pause = 0.3;  // of what the back-off allows
  Results results;
  std::optional<Session> session;
  std::mutex events_mutex;
  std::vector<std::string> events;
};

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
  EXPECT_EQ(connector.answers, 50U);
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
  connector.way = WayWish::rdma_cm;
  connect_often(30);
}

// Reads by a clock of the test's own, put under Soft-RoCE. Before Linux 6.3 that does not survive a READ of 0
// bytes that is sent again: no loss here, and an ACK timeout of 4 s, longer than a guest stands still.
class ProbeByAdapterClock : public ProbeVerbs {
 protected:
  void begin_with_clock(std::uint64_t mask, std::uint64_t khz, bool wraps = false) {
    fake_clock.mask = mask;
    fake_clock.khz = khz;
    fake_clock.wraps = wraps;
    fake_clock.stopped = false;
    fake_clock.put_under(*here->device()->context());
    begin({.timeout = 20, .retry = 1}, {.one_sided = {Op::read}});
    wait_for_up();
  }

  // Both READs are on the way one after the other, and only the second one is recorded. A stamp is taken late
  // where the guest stands still, and what it ends or begins is off by as much: what holds for each pair is
  // that the first one ended a round trip after the start at the earliest. That the second one takes a round
  // trip too is seen by the first sample whose stamps are not late.
  void expect_one_of_two_round_trips() {
    constexpr nanoseconds kRoundTrip = 20ms;
    const Netem out("ve0", "delay 10ms");
    const Netem back("ve1", "delay 10ms");
    results.clear();
    bool in_time = false;
    for (std::size_t i = 0; i < 100 && !(in_time && i >= 5); ++i) {
      const Clock::time_point start = Clock::now();
      tick(Op::read, 1);
      const nanoseconds span = Clock::now() - start;
      const auto samples = results.samples(Op::read);
      ASSERT_EQ(samples.size(), i + 1) << testing::PrintToString(results.failures());
      const Completion& pair = samples.back();
      EXPECT_EQ(pair.clock, RttClock::nic);
      EXPECT_FALSE(pair.slept) << "no wake-up is in it";
      ASSERT_GE(span, 2 * kRoundTrip) << "netem is never early";
      ASSERT_LE(pair.rtt, span - kRoundTrip + 1us) << "the first one is not recorded";
      in_time = in_time || pair.rtt >= kRoundTrip;
    }
    EXPECT_TRUE(in_time);
  }
};

TEST_F(ProbeByAdapterClock, RecordsTheSecondOfTwoReads) {
  begin_with_clock(~std::uint64_t{0} >> 1, 1'000'000);
  expect_one_of_two_round_trips();
}

TEST_F(ProbeByAdapterClock, RecordsItAcrossAWrapOfANarrowClock) {
  begin_with_clock((std::uint64_t{1} << 30) - 1, 10'000, true);
  expect_one_of_two_round_trips();
}

TEST_F(ProbeByAdapterClock, GoesOnByTheHostsClockWhenTheStampsCannotBe) {
  begin_with_clock(~std::uint64_t{0} >> 1, 1'000'000);
  tick(Op::read, 1);
  fake_clock.stopped = true;
  tick(Op::read, 1);
  EXPECT_EQ(results.failures(), std::vector<std::string>{"read local adapter_clock"});
  wait_for_up();
  tick(Op::read, 3);
  const auto samples = results.samples(Op::read);
  ASSERT_EQ(samples.size(), 4U) << testing::PrintToString(results.failures());
  EXPECT_EQ(samples.front().clock, RttClock::nic);
  EXPECT_EQ(samples.back().clock, RttClock::host);
}

TEST_F(ProbeByAdapterClock, SeesThatAPairIsRefused) {
  connector.grants = kGrantWrite;
  begin_with_clock(~std::uint64_t{0} >> 1, 1'000'000);
  tick(Op::read, 1);
  EXPECT_EQ(results.failures(), std::vector<std::string>{"read op rem_inv_req_err"});
  wait_for_up();
  tick(Op::echo, 1);
  EXPECT_EQ(results.rtts(Op::echo).size(), 1U);
}

// Two ends, and where the far one's connection manager waits.
class ProbeManaged : public ProbeVerbs {
 protected:
  std::shared_ptr<RcEnd> make(DeviceLoop& loop, bool responder) {
    EndRequest request;
    request.responder = responder;
    request.remote = kGrantWrite;
    request.way = WayWish::rdma_cm;
    request.gid.exact = *gid_of_address(responder ? "10.9.0.2" : "10.9.0.1");
    auto made = make_end(loop, request);
    if (!made) throw std::runtime_error(core::to_string(made.error().error));
    return *made;
  }

  probe::SetUp<void> call(const CmDoor& door, std::chrono::milliseconds time = 30s) {
    return cm_connect_end(*make(*here, false), *here->device(), far->local, door, {}, time);
  }

  std::shared_ptr<RcEnd> far = make(*there, true);
  std::shared_ptr<CmListener> listener = CmListener::open(far, *there->device(), {}).value();
};

TEST_F(ProbeManaged, TakesOnlyWhoHasTheWordAndOnlyOnce) {
  const Answering answering(*listener);
  CmDoor wrong = listener->door();
  wrong.token.back() ^= 1;
  const auto refused = call(wrong);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().failure(), (Failure{Stage::modify, "ECONNREFUSED"}));
  EXPECT_FALSE(listener->done()) << "it still waits";
  EXPECT_TRUE(call(listener->door()));
  const auto again = call(listener->door());
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().failure(), (Failure{Stage::modify, "ECONNREFUSED"}));
}

TEST_F(ProbeManaged, GivesUpByItsOwnClock) {
  const Netem deaf("ve0", "loss 100%");
  const Clock::time_point start = Clock::now();
  const auto failed = call(listener->door(), 500ms);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().failure(), (Failure{Stage::modify, "ETIMEDOUT"}));
  EXPECT_GE(Clock::now() - start, 500ms);
  EXPECT_LT(Clock::now() - start, 30s) << "the kernel's own time is beyond 100 s";
}

// What stands in for GIDs on iWARP, whose devices the suite probe-iwarp has.
TEST_F(ProbeManaged, FindsTheAddressesOfADevice) {
  EXPECT_EQ(managed_addresses(*here->device(), 1).value(), std::vector<Gid>{*gid_of_address("10.9.0.1")});
  EXPECT_EQ(managed_addresses(*there->device(), 1).value(), std::vector<Gid>{*gid_of_address("10.9.0.2")});
}

}  // namespace
}  // namespace rdma_exporter::probe
