// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "tests/lab/fake_adapter_clock.h"
#include "tests/lab/probe_verbs_fixture.h"

namespace rdma_exporter::probe {
namespace {

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

}  // namespace
}  // namespace rdma_exporter::probe
