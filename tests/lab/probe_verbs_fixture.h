// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>

#include "tests/lab/probe_fixture.h"

namespace rdma_exporter::probe {

using std::chrono::nanoseconds;

inline constexpr RcTiming kPatient{.timeout = 16, .retry = 6};
inline constexpr RcTiming kQuick{.timeout = 14, .retry = 3};

inline std::string output_of(const std::string& command) {
  std::string output;
  std::FILE* pipe = ::popen(command.c_str(), "r");
  std::array<char, 4096> buffer;
  for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    output.append(buffer.data(), n);
  ::pclose(pipe);
  return output;
}

inline std::size_t count_of(const std::string& text, const std::string& word) {
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

  // The lower bound is strict. The upper one is on the fastest sample of the best of five rounds, and leaves
  // more room where the guest gets so little of the processors that the path without a delay is slow.
  void expect_delayed(nanoseconds round_trip, const std::function<std::unique_ptr<Change>()>& delay) {
    nanoseconds beyond = nanoseconds::max();
    for (int round = 0; round < 5 && beyond > 0ns; ++round) {
      const nanoseconds without = measure(60)[30];
      const std::unique_ptr<Change> delayed = delay();
      const auto with = measure(60);
      ASSERT_GE(with.front(), round_trip) << "netem is never early";
      const nanoseconds own = 3ms + 4 * without;
      beyond = std::min<nanoseconds>(beyond, with.front() - (round_trip * 105 / 100 + own));
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
      on(*here, [&] { session->disturbed(Clock::now(), {Stage::tcp, kPeerClosed}); });
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

}  // namespace rdma_exporter::probe
