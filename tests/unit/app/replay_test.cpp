// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/replay.h"

#include <gtest/gtest.h>

#include "app/command.h"
#include "app/setup/collector_settings.h"
#include "collectors/collector_set.h"
#include "config/parse.h"
#include "record/recording_host.h"
#include "record/replaying_host.h"
#include "tests/unit/support/record_fixture.h"
#include "tests/unit/support/temp_tree.h"

namespace rdma_exporter::app {
namespace {

using namespace std::chrono_literals;

// A collector that waits for what it gave to the background has it at once.
class AtOnce : public task::Background {
 public:
  void start(std::function<void()> task) override { task(); }
  void tend() override {}
};

// Nothing here waits for time to pass: snapshots are ten seconds apart, and `kStart + 10s` is one later.
constexpr record::Player::Clock::time_point kStart{1000h};

// A port whose counters have other values in each snapshot, read by the collectors through what plays it.
class ReplayTest : public testing::Test {
 protected:
  static constexpr const char* kPort = "class/infiniband/mlx5_0/ports/1/";

  ReplayTest() : config_(config::parse({}, collector_choices())->config) {
    tree_.write(std::string(kPort) + "state", "4: ACTIVE\n");
  }

  record::Snapshot snapshot(const std::string& packets, const std::string& errors) {
    tree_.write(std::string(kPort) + "counters/port_rcv_packets", packets + "\n");
    tree_.write(std::string(kPort) + "counters/port_rcv_errors", errors + "\n");
    host::Host live{.sysfs = host::make_host_fs(tree_.root()), .procfs = host::make_host_fs(tree_.root())};
    record::Tape tape;
    host::Host host = record::recording_host(live, tape);
    AtOnce background;
    const auto context = collector_context(host, config_, Purpose::once, background);
    collectors::CollectorSet set(context, enabled_collectors(config_), device_filter({}));
    EXPECT_TRUE(set.refresh());
    for (const auto& job : set.jobs()) {
      core::JobRun run(1);
      job->run(run);
    }
    return tape.take();
  }

  // {family: value} of all counters at that position.
  std::map<std::string, std::uint64_t> counters(Replay& replay, record::Position position) {
    replay.player()->show(position);
    std::map<std::string, std::uint64_t> values;
    host::Host host = record::replaying_host(replay.player(), 0);
    AtOnce background;
    const auto context = collector_context(host, config_, Purpose::once, background);
    collectors::CollectorSet set(context, enabled_collectors(config_), device_filter({}));
    EXPECT_TRUE(set.refresh());
    for (const auto& job : set.jobs()) {
      core::JobRun run(1);
      replay.continued(job)->run(run);
      for (const core::Sample& sample : run.samples().samples())
        if (!sample.is_real) values[series_name(sample)] = sample.integer;
    }
    return values;
  }

  test::TempTree tree_;
  config::Config config_;
};

constexpr auto kPackets = R"(rdma_port_packets_total{device="mlx5_0",port="1",direction="rx"})";
constexpr auto kState = R"(rdma_port_state{device="mlx5_0",port="1"})";

TEST_F(ReplayTest, CountersGoOnRisingWhenItBeginsAgain) {
  const std::vector<record::Snapshot> snapshots{snapshot("100", "9"), snapshot("130", "9"),
                                                snapshot("170", "9")};
  const auto player = std::make_shared<record::Player>(*record::recording_of(snapshots), kStart);
  const auto replay = std::make_shared<Replay>(config_, player);
  const auto packets = [&](std::size_t shown, std::uint64_t rounds) {
    return counters(*replay, {shown, rounds}).at(kPackets);
  };
  EXPECT_EQ(packets(0, 0), 100U);
  EXPECT_EQ(packets(1, 0), 130U);
  EXPECT_EQ(packets(2, 0), 170U);
  EXPECT_EQ(packets(0, 1), 170U) << "goes on where the last round ended";
  EXPECT_EQ(packets(2, 3), 170U + 3 * 70U);
}

TEST_F(ReplayTest, NothingElseRises) {
  const std::vector<record::Snapshot> snapshots{snapshot("100", "9"), snapshot("170", "9")};
  const auto player = std::make_shared<record::Player>(*record::recording_of(snapshots), kStart);
  const auto replay = std::make_shared<Replay>(config_, player);
  const auto first = counters(*replay, {0, 0});
  const auto later = counters(*replay, {0, 5});
  EXPECT_EQ(later.at(kState), first.at(kState));
  for (const auto& [series, value] : first)
    if (series != kPackets) {
      EXPECT_EQ(later.at(series), value) << series;
    }
}

TEST_F(ReplayTest, ACounterThatFellBeginsAgain) {
  const std::vector<record::Snapshot> snapshots{snapshot("100", "9"), snapshot("30", "9")};
  const auto player = std::make_shared<record::Player>(*record::recording_of(snapshots), kStart);
  const auto replay = std::make_shared<Replay>(config_, player);
  EXPECT_EQ(counters(*replay, {0, 2}).at(kPackets), 100U);
}

TEST_F(ReplayTest, MovesOnWithTime) {
  const std::vector<record::Snapshot> snapshots{snapshot("100", "9"), snapshot("170", "9")};
  const auto player = std::make_shared<record::Player>(*record::recording_of(snapshots), kStart);
  const auto replay = std::make_shared<Replay>(config_, player);
  const auto packets = [&] { return counters(*replay, player->shown()).at(kPackets); };
  EXPECT_FALSE(replay->advance(kStart + 9s));
  EXPECT_EQ(packets(), 100U);
  EXPECT_TRUE(replay->advance(kStart + 10s));
  EXPECT_EQ(packets(), 170U);
  EXPECT_TRUE(replay->advance(kStart + 20s)) << "the next round";
  EXPECT_EQ(packets(), 170U);
}

TEST_F(ReplayTest, AJobIsContinuedByOneJob) {
  const auto player = std::make_shared<record::Player>(*record::recording_of({snapshot("1", "2")}), kStart);
  const auto replay = std::make_shared<Replay>(config_, player);
  class Nothing : public core::Job {
   public:
    Nothing() : Job("port", "mlx5_0") {}
    void run(core::JobRun& run) override {
      run.fail();
      run.count_read_error("EIO");
      run.count_dropped("limit", 3);
    }
  };
  const auto job = std::make_shared<Nothing>();
  const auto one = replay->continued(job);
  EXPECT_EQ(replay->continued(job), one);
  EXPECT_EQ(one->device(), "mlx5_0");
  core::JobRun run(1);
  one->run(run);
  EXPECT_TRUE(run.failed());
  EXPECT_EQ(run.read_errors().size(), 1U);
  EXPECT_EQ(run.dropped().front().second, 3U);
}

}  // namespace
}  // namespace rdma_exporter::app
