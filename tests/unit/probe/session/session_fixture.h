// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "probe/rdma/verbs/wc_status.h"
#include "probe/session/session.h"

namespace rdma_exporter::probe {

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
  void warmed_up(Op op, const Completion&) override { ++warm_ups[op]; }
  void unsent(Op op, const Failure& why) override { not_sent.emplace_back(op, why); }
  void interrupted(const Failure& why) override { interruptions.push_back(why); }
  std::map<Op, int> warm_ups;
  std::vector<std::pair<Op, Failure>> not_sent;
  std::vector<Failure> interruptions;
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

}  // namespace rdma_exporter::probe
