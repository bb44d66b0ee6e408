// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/ethtool/ethtool_stats.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <set>
#include <tuple>

#include "host/ethtool/ethtool.h"
#include "tests/unit/support/fake_ethtool.h"

namespace rdma_exporter::host {
namespace {

// The kernel itself tries to write more than the buffer holds.
TEST(GuardedBuffer, StopsAKernelThatWritesTooMuch) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const char text[64] = "more than the buffer holds";
  for (const std::size_t size : {std::size_t{20}, std::size_t{4096}, std::size_t{100'000}, std::size_t{20}}) {
    GuardedBuffer buffer;
    const auto memory = buffer.get(size);
    ASSERT_EQ(memory.size(), size);
    ASSERT_EQ(::write(pipe[1], text, sizeof text), static_cast<ssize_t>(sizeof text));
    errno = 0;
    const ssize_t done = ::read(pipe[0], memory.data() + size - 10, sizeof text);
    EXPECT_TRUE(done == 10 || (done == -1 && errno == EFAULT)) << done << " " << errno;
    char rest[64];
    EXPECT_GT(::read(pipe[0], rest, sizeof rest), 0);
  }
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST(GuardedBuffer, GivesWritableMemoryOfAnySizeAgainAndAgain) {
  GuardedBuffer buffer;
  for (const std::size_t size : {0U, 1U, 24U, 4096U, 300'000U, 8U, 300'001U}) {
    const auto memory = buffer.get(size);
    ASSERT_EQ(memory.size(), size);
    if (size > 0) std::memset(memory.data(), 0xab, size);
  }
}

using Values = std::map<std::string, std::uint64_t>;

class EthtoolStatsTest : public ::testing::Test {
 protected:
  EthtoolStatsTest() { interface() = test::recorded_interface("ve0"); }

  test::FakeEthtool::Interface& interface() { return kernel_.interfaces["ve0"]; }

  /// One reading by name; empty with error_ set when it failed.
  Values read() {
    error_.reset();
    const auto reading = stats_.read(scratch_);
    Values values;
    if (!reading) {
      error_ = reading.error();
    } else {
      for (std::size_t i = 0; i < stats_.size(); ++i) values[std::string(stats_.name(i))] = reading->value(i);
    }
    return values;
  }
  void read_often() {
    for (unsigned i = 0; i <= EthtoolStats::kTrustedAfter; ++i) read();
  }
  /// From the next command of that kind on.
  void change_before(std::uint32_t command, std::function<void()> change) {
    kernel_.before = [this, command, change = std::move(change)](std::uint32_t now) {
      if (now != command) return;
      kernel_.before = nullptr;
      change();
    };
  }
  bool failed_with(int os_errno) const { return error_ && core::is_errno(*error_, os_errno); }

  test::FakeEthtool kernel_;
  EthtoolScratch scratch_;
  EthtoolStats stats_{kernel_, "ve0"};
  std::optional<core::Error> error_;
};

TEST_F(EthtoolStatsTest, ReadsWhatAKernelGave) {
  const Values values = read();
  EXPECT_EQ(values.size(), 10U);
  EXPECT_EQ(values.count("peer_ifindex"), 1U);
  EXPECT_EQ(values.count("tx_queue_0_xdp_xmit_errors"), 1U);
  EXPECT_GT(values.at("peer_ifindex"), 0U);
}

TEST_F(EthtoolStatsTest, AsksForNamesOnlyOnceOnceTheyAreTrusted) {
  read_often();
  kernel_.calls.clear();
  read();
  EXPECT_EQ(kernel_.calls, (std::map<std::uint32_t, int>{{ETHTOOL_GSTATS, 1}, {ETHTOOL_GSTRINGS, 1}}));
}

TEST_F(EthtoolStatsTest, EndsANameAtItsNulOrItsTrailingBlanks) {
  interface().names = {"tx_octets_ok            ", "exactly_32_bytes_without_a_nul_xx", "", "   "};
  interface().values = {1, 2, 3, 4};
  read();
  EXPECT_EQ(stats_.name(0), "tx_octets_ok");
  EXPECT_EQ(stats_.name(1), "exactly_32_bytes_without_a_nul_x");
  EXPECT_EQ(stats_.name(2), "");
  EXPECT_EQ(stats_.name(3), "");
}

// What a reading shows must be true at some moment: a value under the name that it had then.
class Renaming : public EthtoolStatsTest, public ::testing::WithParamInterface<std::uint32_t> {
 protected:
  Renaming() { pfc_on(3); }
  // mlx5: as many statistics as before, and in the same places.
  void pfc_on(int priority) {
    const std::string name = "_prio" + std::to_string(priority) + "_pause";
    interface().names = {"first", "rx" + name, "tx" + name, "last"};
    interface().values = {1, 1000U + static_cast<unsigned>(priority), 2000U + static_cast<unsigned>(priority),
                          2};
  }
  static Values truth(int priority) {
    const std::string name = "_prio" + std::to_string(priority) + "_pause";
    const auto p = static_cast<unsigned>(priority);
    return {{"first", 1}, {"rx" + name, 1000 + p}, {"tx" + name, 2000 + p}, {"last", 2}};
  }
};

TEST_P(Renaming, NeverMixesNamesWhenItHappensBetweenTheIoctls) {
  for (const bool trusted : {false, true}) {
    pfc_on(3);
    if (trusted) read_often();
    change_before(GetParam(), [this] { pfc_on(4); });
    EXPECT_EQ(read(), truth(4)) << trusted;
    EXPECT_FALSE(error_);
    EXPECT_EQ(read(), truth(4)) << trusted;
  }
}

TEST_P(Renaming, NeverMixesNamesWhenItGoesBackAndForth) {
  read_often();
  int priority = 3;
  kernel_.before = [&](std::uint32_t command) {
    if (command == GetParam()) pfc_on(priority = 7 - priority);
  };
  for (int i = 0; i < 20; ++i) {
    const Values values = read();
    if (error_) {
      EXPECT_TRUE(failed_with(EAGAIN));
    } else {
      EXPECT_TRUE(values == truth(3) || values == truth(4));
    }
  }
}

// It moved since the last reading, and moves back right after the values were read.
TEST_P(Renaming, NeverMixesNamesWhenTheOldOnesComeBack) {
  read();
  pfc_on(4);
  bool values_read = false;
  kernel_.before = [&](std::uint32_t command) {
    if (values_read) pfc_on(3);
    values_read = command == ETHTOOL_GSTATS;
  };
  EXPECT_EQ(read(), truth(3));
}

INSTANTIATE_TEST_SUITE_P(Before, Renaming, ::testing::Values(ETHTOOL_GSTRINGS, ETHTOOL_GSTATS));

class Growing : public EthtoolStatsTest,
                public ::testing::WithParamInterface<std::tuple<bool, std::uint32_t, int>> {
 protected:
  Growing() { kernel_.old_kernel = std::get<0>(GetParam()); }
  void resize() {
    const int by = std::get<2>(GetParam());
    interface().names.resize(static_cast<std::size_t>(static_cast<int>(interface().names.size()) + by),
                             "added");
    interface().values.resize(interface().names.size(), 7);
  }
};

// Under ASan, and with a guard page behind the buffer: an old kernel writes all that it has.
TEST_P(Growing, LosesNoMemoryAndAtMostOneSample) {
  read();
  change_before(std::get<1>(GetParam()), [this] { resize(); });
  const Values values = read();
  const std::set<std::string> names(interface().names.begin(), interface().names.end());
  EXPECT_TRUE(failed_with(EAGAIN) || values.size() == names.size());
  EXPECT_FALSE(read().empty());
  EXPECT_EQ(stats_.size(), interface().names.size());
}

INSTANTIATE_TEST_SUITE_P(Between, Growing,
                         ::testing::Combine(::testing::Bool(),
                                            ::testing::Values(ETHTOOL_GSTRINGS, ETHTOOL_GSTATS),
                                            ::testing::Values(-5, 1, 1000, 20000)));

TEST_F(EthtoolStatsTest, GivesUpOnADriverThatNeverStandsStill) {
  kernel_.before = [&](std::uint32_t command) {
    if (command == ETHTOOL_GSTATS) interface()["another_" + std::to_string(kernel_.calls[command])] = 1;
  };
  EXPECT_TRUE(read().empty());
  EXPECT_TRUE(failed_with(EAGAIN));
  EXPECT_LE(kernel_.calls[ETHTOOL_GSTATS], EthtoolStats::kAttempts);
  kernel_.before = nullptr;
  EXPECT_EQ(read().size(), interface().names.size());
}

// The kernel writes no value if their number is not the one that was asked for.
TEST_F(EthtoolStatsTest, TakesNoValuesThatWereNotWritten) {
  read_often();
  const test::FakeEthtool::Interface whole = interface();
  kernel_.before = [&](std::uint32_t command) {
    interface() = whole;
    if (command == ETHTOOL_GSTATS) interface().values.pop_back();
  };
  read();
  EXPECT_TRUE(failed_with(EAGAIN));
}

TEST_F(EthtoolStatsTest, SaysWhyThereIsNothing) {
  interface().has_statistics = false;
  read();
  EXPECT_TRUE(failed_with(EOPNOTSUPP));
  interface() = {};
  read();
  EXPECT_TRUE(failed_with(EOPNOTSUPP));
  EXPECT_EQ(kernel_.calls[ETHTOOL_GSTRINGS], 0) << "the kernel warns when asked for the names of nothing";
  kernel_.interfaces.clear();
  read();
  EXPECT_TRUE(failed_with(ENODEV));
}

TEST_F(EthtoolStatsTest, ReadsOnAfterAnError) {
  read();
  kernel_.refusals[ETHTOOL_GSTATS] = EIO;
  read();
  EXPECT_TRUE(failed_with(EIO));
  kernel_.refusals.clear();
  EXPECT_EQ(read().size(), 10U);
}

TEST_F(EthtoolStatsTest, RefusesMoreThanAnyDriverHas) {
  interface().names.resize(EthtoolStats::kMaxStatistics + 1);
  read();
  ASSERT_TRUE(error_);
  EXPECT_EQ(error_->kind, core::Errc::too_long);
}

TEST_F(EthtoolStatsTest, ChangesItsVersionWithTheNamesAlsoWhenTheReadingFailed) {
  read();
  const auto before = stats_.version();
  read();
  EXPECT_EQ(stats_.version(), before);
  interface().names[0] = "other";
  kernel_.refusals[ETHTOOL_GSTATS] = EIO;
  read();
  kernel_.refusals.clear();
  read();
  EXPECT_NE(stats_.version(), before);
}

TEST(DriverInfo, IsWhatAKernelGave) {
  test::FakeEthtool kernel;
  kernel.interfaces["eth0"] = test::recorded_interface("eth0");
  auto info = driver_info(kernel, "eth0");
  ASSERT_TRUE(info);
  EXPECT_EQ(info->driver, "virtio_net");
  EXPECT_EQ(info->bus_address, "0000:00:02.0");
  EXPECT_EQ(info->firmware_version, "");
  kernel.interfaces["eth0"].firmware_version = std::string(40, 'x');
  EXPECT_EQ(driver_info(kernel, "eth0")->firmware_version, std::string(32, 'x')) << "no NUL at its end";
  kernel.interfaces["eth0"].firmware_version = "N/A";
  EXPECT_EQ(driver_info(kernel, "eth0")->firmware_version, "");
  EXPECT_TRUE(core::is_errno(driver_info(kernel, "gone").error(), ENODEV));
}

}  // namespace
}  // namespace rdma_exporter::host
