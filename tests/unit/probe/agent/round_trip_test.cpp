// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// What a session measures does not depend on how many others its device has. The adapters' operations take a
// known time, so that what is above that is the probe's own.
#include <algorithm>
#include <array>
#include <mutex>
#include <set>
#include <vector>

#include "probe/agent/agent.h"
#include "tests/unit/probe/verbs_fixture.h"
#include "tests/unit/support/free_port.h"

namespace rdma_exporter::probe {
namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds kPath = 50us;
constexpr std::size_t kSamples = 400;

class Samples : public Observer {
 public:
  void begins(const Path&) override {}
  void settled() override {}
  void success(const Path& path, Op, const Completion& completion) override {
    const std::lock_guard lock(mutex_);
    paths_.insert(path);
    if (!completion.slept && !completion.preempted) rtts_.push_back(completion.rtt);
  }
  void failure(const Path&, Op, const Failure&) override {}
  void only_echoes(const Path&) override {}

  std::size_t paths() const {
    const std::lock_guard lock(mutex_);
    return paths_.size();
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    rtts_.clear();
  }
  std::vector<nanoseconds> rtts() const {
    const std::lock_guard lock(mutex_);
    return rtts_;
  }

 private:
  mutable std::mutex mutex_;
  std::set<Path> paths_;
  std::vector<nanoseconds> rtts_;
};

class RoundTripTest : public VerbsTest {
 protected:
  // The median of what `sessions` sessions of one device measure that was neither interrupted nor asleep.
  nanoseconds median_with(unsigned sessions) const {
    AgentOptions options;
    options.responder.enabled = true;
    const std::uint16_t port = test::free_port();
    options.responder.listen = {{{asio::ip::make_address("127.0.0.1"), port}}};
    options.targets = {
        {.name = "far", .address = "127.0.0.1", .port = port, .device = "far0", .from = "near0"}};
    options.session.operations = {Op::write};
    options.session.flows = sessions;
    options.session.interval = std::max(10ms, std::chrono::milliseconds(sessions * 2 / 5));
    options.limits = {.queue_pairs = 2 * sessions + 2,
                      .probes_per_second = 1'000'000,
                      .connects_per_second = 10'000,
                      .cpu_percent = 100};
    const auto samples = std::make_shared<Samples>();
    options.observer = samples;
    Agent agent({});
    EXPECT_TRUE(agent.configure(options));
    EXPECT_TRUE(soon([&] { return samples->paths() == sessions; })) << samples->paths();
    samples->clear();
    EXPECT_TRUE(soon([&] { return samples->rtts().size() >= kSamples; })) << samples->rtts().size();
    EXPECT_TRUE(agent.stop(Clock::now() + 10s));
    auto rtts = samples->rtts();
    if (rtts.empty()) return {};
    std::nth_element(rtts.begin(), rtts.begin() + static_cast<std::ptrdiff_t>(rtts.size() / 2), rtts.end());
    return rtts[rtts.size() / 2];
  }
};

TEST_F(RoundTripTest, IsTheSameHoweverManySessionsThereAre) {
  fabric.set_round_trip(kPath);
  double spread = 0;
  std::array<std::int64_t, 4> medians{};  // nanoseconds
  // On a machine that does other things at the same time, one of several rounds is enough.
  for (int round = 0; round < 3; ++round) {
    std::size_t at = 0;
    for (const unsigned others : {1U, 16U, 64U, 256U}) medians[at++] = median_with(1 + others).count();
    const auto [least, most] = std::minmax_element(medians.begin(), medians.end());
    ASSERT_GE(*least, kPath.count());
    RecordProperty("medians_ns", testing::PrintToString(medians));
    spread = static_cast<double>(*most) / static_cast<double>(*least);
    if (spread <= 1.1) break;
  }
  EXPECT_LE(spread, 1.1) << testing::PrintToString(medians);
}

}  // namespace
}  // namespace rdma_exporter::probe
