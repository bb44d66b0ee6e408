// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/daemon.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <optional>
#include <string>

#include "config/parse.h"
#include "tests/unit/support/temp_tree.h"

// Reloads whose files are slow or never read, or ask for what cannot change.
namespace rdma_exporter::app {
namespace {

using namespace std::chrono_literals;

class DaemonReload : public testing::Test {
 protected:
  DaemonReload() {
    tree_.mkdir("sys");
    config_.path.sysfs = tree_.path("sys");
    config_.web.listen_addresses = {"127.0.0.1:0"};
  }

  // The first reading hangs until go_on_ has a value.
  core::Result<app::Setup> read() {
    if (++readings_ == 1) go_on_.get_future().wait();
    return set_up(config_, Purpose::serve);
  }

  // What a reload was answered: nothing yet, "" or its error.
  using Outcome = std::shared_ptr<std::optional<std::string>>;
  static Outcome reload(Daemon& daemon) {
    auto outcome = std::make_shared<std::optional<std::string>>();
    daemon.reload([outcome](const core::Result<void>& result) {
      *outcome = result ? std::string() : core::to_string(result.error());
    });
    return outcome;
  }
  void run_until_answered(const Outcome& outcome) {
    const auto give_up = std::chrono::steady_clock::now() + 30s;
    while (!outcome->has_value() && std::chrono::steady_clock::now() < give_up) io_.run_one_for(1s);
    ASSERT_TRUE(outcome->has_value());
  }

  test::TempTree tree_;
  asio::io_context io_{1};
  config::Config config_;
  std::promise<void> go_on_;
  std::atomic<int> readings_ = 0;
};

// What waits for a name server belongs on the thread that reads the files.
TEST_F(DaemonReload, HasNoNameLeftToLookUp) {
  config_.web.listen_addresses = {"localhost:0", ":0"};
  config_.probe.responder = true;
  config_.probe.insecure = true;
  config_.probe.listen_addresses = {"localhost:0"};
  const auto setup = set_up(config_, Purpose::serve);
  ASSERT_TRUE(setup) << core::to_string(setup.error());
  EXPECT_EQ(setup->listen_addresses, (std::vector<std::string>{"127.0.0.1:0", ":0"}));
  ASSERT_EQ(setup->probe.responder.listen.size(), 1U);
  EXPECT_TRUE(setup->probe.responder.listen[0][0].address().is_loopback());
}

TEST_F(DaemonReload, ReadsAgainForWhoAsksWhileItReads) {
  Daemon daemon(io_, *set_up(config_, Purpose::serve), [this] { return read(); });
  ASSERT_TRUE(daemon.start());
  const Outcome first = reload(daemon);
  const Outcome second = reload(daemon);
  const Outcome third = reload(daemon);
  go_on_.set_value();
  for (const Outcome& outcome : {first, second, third}) {
    run_until_answered(outcome);
    EXPECT_EQ(**outcome, "");
  }
  EXPECT_EQ(readings_, 2) << "one reading for all who asked during the first";
  EXPECT_TRUE(daemon.finish(std::chrono::steady_clock::now() + 10s));
}

TEST_F(DaemonReload, GivesUpAFileThatIsNeverRead) {
  Daemon daemon(io_, *set_up(config_, Purpose::serve), [this] { return read(); });
  ASSERT_TRUE(daemon.start());
  const Outcome stuck = reload(daemon);
  run_until_answered(stuck);
  EXPECT_EQ(**stuck, "a configuration file could not be read within 10 s");
  const Outcome repaired = reload(daemon);
  run_until_answered(repaired);
  EXPECT_EQ(**repaired, "");
  EXPECT_FALSE(daemon.finish(std::chrono::steady_clock::now())) << "a thread still reads";
  *stuck = std::nullopt;
  go_on_.set_value();
  io_.run_for(100ms);
  EXPECT_FALSE(stuck->has_value()) << "what comes too late is dropped";
  EXPECT_TRUE(daemon.finish(std::chrono::steady_clock::now() + 10s));
}

// The probe opens adapters by the names that it found below the old path.
TEST_F(DaemonReload, RefusesAnotherSysfsWhileTheProbeIsOn) {
  config_.probe.responder = true;
  config_.probe.listen_addresses = {"127.0.0.1:0"};
  Daemon daemon(io_, *set_up(config_, Purpose::serve), [this] { return set_up(config_, Purpose::serve); });
  ASSERT_TRUE(daemon.start());
  tree_.mkdir("other");
  config_.path.sysfs = tree_.path("other");
  for (const char* again : {"refused", "and no half of it was taken over"}) {
    const Outcome refused = reload(daemon);
    run_until_answered(refused);
    EXPECT_EQ(**refused, "--path.sysfs: a change requires a restart while the probe is on") << again;
  }
  config_.path.sysfs = tree_.path("sys");
  const Outcome reverted = reload(daemon);
  run_until_answered(reverted);
  EXPECT_EQ(**reverted, "");
  EXPECT_TRUE(daemon.finish(std::chrono::steady_clock::now() + 10s));
}

TEST_F(DaemonReload, TakesAnotherSysfsWithoutAProbe) {
  Daemon daemon(io_, *set_up(config_, Purpose::serve), [this] { return set_up(config_, Purpose::serve); });
  ASSERT_TRUE(daemon.start());
  tree_.mkdir("other");
  config_.path.sysfs = tree_.path("other");
  const Outcome taken = reload(daemon);
  run_until_answered(taken);
  EXPECT_EQ(**taken, "");
  EXPECT_TRUE(daemon.finish(std::chrono::steady_clock::now() + 10s));
}

}  // namespace
}  // namespace rdma_exporter::app
