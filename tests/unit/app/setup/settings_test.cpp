// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <string>
#include <vector>

#include "app/metrics/privileges.h"
#include "app/setup/collector_settings.h"
#include "app/setup/make_host.h"
#include "app/system/process.h"
#include "tests/unit/support/temp_tree.h"

// What the configuration and the host make of each other at the start.
namespace rdma_exporter::app {
namespace {

TEST(AppDeviceFilter, GoesByWholeNames) {
  const auto all = device_filter({});
  EXPECT_TRUE(all("mlx5_0"));
  const auto some = device_filter({.include = core::Pattern("mlx5_.*"), .exclude = core::Pattern("mlx5_1")});
  EXPECT_TRUE(some("mlx5_0"));
  EXPECT_TRUE(some("mlx5_10")) << "its name only begins like the one that is excluded";
  EXPECT_FALSE(some("mlx5_1"));
  EXPECT_FALSE(some("rxe_mlx5_0"));
}

TEST(AppDeviceFilter, SaysWhichExpressionMatchesNothing) {
  const std::vector<std::string> here{"mlx5_0", "mlx5_1"};
  const auto slip =
      unmatched_filters({.include = core::Pattern("mlx_.*"), .exclude = core::Pattern("mlx5_1")}, here);
  ASSERT_EQ(slip.size(), 1U);
  EXPECT_EQ(slip[0], "device.include: \"mlx_.*\" matches none of the devices found: mlx5_0, mlx5_1");
  EXPECT_EQ(unmatched_filters({.include = {}, .exclude = core::Pattern("rxe0")}, here).size(), 1U);
  EXPECT_TRUE(unmatched_filters({.include = core::Pattern("mlx_.*"), .exclude = {}}, {}).empty())
      << "no device";
  EXPECT_TRUE(unmatched_filters({}, here).empty());
}

TEST(AppNoDevices, AreExplained) {
  using Names = std::vector<std::string>;
  const config::DeviceConfig only_rxe{.include = core::Pattern("rxe.*"), .exclude = {}};
  EXPECT_EQ(why_no_devices("/sys", core::os_error(ENOENT), {}),
            "/sys/class/infiniband does not exist: no RDMA driver is loaded, or this is not the host's /sys");
  EXPECT_EQ(
      why_no_devices("/sys", Names{}, {}),
      "/sys/class/infiniband is empty: no adapter has an RDMA driver, or its devices are in another network "
      "namespace");
  EXPECT_EQ(why_no_devices("/sys", Names{"mlx5_0"}, only_rxe),
            "device.include and device.exclude exclude every device: mlx5_0");
  EXPECT_EQ(why_no_devices("/host/sys", Names{"mlx5_0"}, {}),
            "/host/sys/class/infiniband lists mlx5_0, but its links are broken: mount all of /sys, not "
            "just a part of it");
  EXPECT_TRUE(why_no_devices("/sys", core::os_error(EIO), {})
                  .starts_with("/sys/class/infiniband cannot be listed: "));
}

TEST(AppUseKernel, AsksTheKernelForTheHostItRunsOnOnly) {
  config::Config config;
  config.netlink = config::NetlinkMode::on;
  EXPECT_TRUE(use_kernel(config));
  config.replay = "recording";
  EXPECT_FALSE(use_kernel(config)) << "a recording is of another host";
  config.replay.clear();
  config.netlink = config::NetlinkMode::off;
  EXPECT_FALSE(use_kernel(config));
  const test::TempTree tree;
  config.netlink = config::NetlinkMode::automatic;
  config.path.sysfs = tree.root();
  EXPECT_FALSE(use_kernel(config)) << "a copy of a sysfs";
}

/// A limit of open files, as a service manager sets it.
class AppOpenFileLimit : public testing::Test {
 protected:
  AppOpenFileLimit() { ::getrlimit(RLIMIT_NOFILE, &before_); }
  ~AppOpenFileLimit() override { ::setrlimit(RLIMIT_NOFILE, &before_); }
  void set(rlim_t soft) {
    rlimit limit = before_;
    limit.rlim_cur = soft;
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  }
  rlim_t now() const {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur;
  }
  rlimit before_{};
};

TEST_F(AppOpenFileLimit, IsRaisedAsFarAsIsNeeded) {
  set(256);
  const OpenFiles files = raise_open_file_limit({100, 50});
  EXPECT_EQ(files.kept_files, 100U);
  EXPECT_EQ(files.connections, 50U);
  EXPECT_EQ(now(), 100U + 50U + 1024U);
}

TEST_F(AppOpenFileLimit, IsSharedOutWhereItIsSmall) {
  const auto beyond = static_cast<unsigned>(std::min<rlim_t>(before_.rlim_max, 100'000'000));
  const OpenFiles files = raise_open_file_limit({beyond, 128});
  EXPECT_EQ(files.kept_files, now() / 2);
  EXPECT_EQ(files.connections, 128U);
  EXPECT_EQ(raise_open_file_limit({beyond, beyond}).connections, now() / 4)
      << "no connection is accepted that leaves nothing to read with";
  EXPECT_LE(now(), before_.rlim_max);
}

TEST_F(AppOpenFileLimit, SaysOnceThatItIsTooLow) {
  const auto beyond = static_cast<unsigned>(std::min<rlim_t>(before_.rlim_max, 100'000'000));
  const auto said = [&](unsigned connections) {
    testing::internal::CaptureStderr();
    raise_open_file_limit({beyond, connections});
    return testing::internal::GetCapturedStderr().find("open file limit is too low") != std::string::npos;
  };
  EXPECT_TRUE(said(129));
  EXPECT_FALSE(said(129)) << "each reload would say it again";
  EXPECT_TRUE(said(130));
}

TEST(AppPrivileges, AreReportedWhileTheyAreMissing) {
  Privileges privileges;
  const auto missing = [&] {
    core::SampleBatch batch;
    privileges.add(batch);
    std::vector<std::string> labels;
    for (const core::Sample& sample : batch.samples()) labels.push_back(sample.labels());
    return labels;
  };
  EXPECT_TRUE(missing().empty());
  privileges.set({{"verbs_device", "async_events"}, {"netlink", "counters"}});
  EXPECT_EQ(missing(), (std::vector<std::string>{R"(privilege="verbs_device",feature="async_events")",
                                                 R"(privilege="netlink",feature="counters")"}));
  privileges.set({{"netlink", "counters"}});
  EXPECT_EQ(missing(), (std::vector<std::string>{R"(privilege="netlink",feature="counters")"}));
  privileges.set({});
  EXPECT_TRUE(missing().empty());
}

using scrape::Selection;

const std::map<std::string, config::CollectorConfig, std::less<>> kCollectors{
    {"device", {}}, {"port", {}}, {"resource", {.enabled = false}}};

core::Result<Selection> select(std::vector<std::string> collect, std::vector<std::string> exclude = {}) {
  return select_collectors({std::move(collect), std::move(exclude)}, kCollectors);
}

TEST(SelectCollectors, TakesAllWithoutAFilter) { EXPECT_EQ(select({}).value(), Selection()); }

TEST(SelectCollectors, TakesTheNamedOrAllButTheNamed) {
  EXPECT_EQ(select({"port", "port"}).value(), Selection({"port"}));
  EXPECT_EQ(select({}, {"port"}).value(), Selection({"device"}));
  EXPECT_EQ(select({}, {"resource"}).value(), Selection({"device", "port"})) << "off anyway";
}

TEST(SelectCollectors, RefusesNamesWithAMessage) {
  EXPECT_EQ(core::to_string(select({"port", "nic"}).error()), "collect[]: unknown collector \"nic\"");
  EXPECT_EQ(core::to_string(select({}, {""}).error()), "exclude[]: unknown collector \"\"");
  EXPECT_EQ(core::to_string(select({"resource"}).error()),
            "collect[]: the collector \"resource\" is switched off");
  const std::string hostile = core::to_string(select({"a\n<b>\xff"}).error());
  EXPECT_EQ(hostile.find('\n'), std::string::npos);
  EXPECT_EQ(hostile.find('\xff'), std::string::npos);
}

}  // namespace

}  // namespace rdma_exporter::app
