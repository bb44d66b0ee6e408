// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/kernel_release.h"

#include <gtest/gtest.h>

#include <utility>

namespace rdma_exporter::host {
namespace {

TEST(DeviceCountersSafe, KnowsKernelsBeforeTheFilesAndAfterTheFix) {
  EXPECT_TRUE(
      device_counters_safe_in_any_namespace("5.10.0-30-amd64", "#1 SMP Debian 5.10.218-1 (2024-06-01)"));
  EXPECT_TRUE(device_counters_safe_in_any_namespace("6.15.0", "#1 SMP"));
  EXPECT_TRUE(device_counters_safe_in_any_namespace("7.1.2-cloud", "#1 SMP"));
}

TEST(DeviceCountersSafe, TakesDebiansSourceVersionNotItsAbi) {
  EXPECT_FALSE(device_counters_safe_in_any_namespace("6.1.0-32-amd64",
                                                     "#1 SMP PREEMPT_DYNAMIC Debian 6.1.129-1 (2025-03-06)"));
  EXPECT_TRUE(device_counters_safe_in_any_namespace("6.1.0-33-amd64",
                                                    "#1 SMP PREEMPT_DYNAMIC Debian 6.1.135-1 (2025-04-25)"));
  EXPECT_TRUE(device_counters_safe_in_any_namespace("6.12.25-amd64", "#1 SMP Debian 6.12.25-1 (2025-05-01)"));
  EXPECT_FALSE(
      device_counters_safe_in_any_namespace("6.12.22-amd64", "#1 SMP Debian 6.12.22-1 (2025-04-10)"));
}

// The last release with the fault and the first without it, of each series.
TEST(DeviceCountersSafe, ChangesAtTheVeryReleaseOfTheFix) {
  for (const auto& [release, safe] : {std::pair{"5.13.19", true},
                                      {"5.14.0", false},
                                      {"6.1.134", false},
                                      {"6.1.135", true},
                                      {"6.12.24", false},
                                      {"6.12.25", true},
                                      {"6.14.11", false},
                                      {"6.15.0", true}})
    EXPECT_EQ(device_counters_safe_in_any_namespace(release, "#1 SMP"), safe) << release;
}

TEST(DeviceCountersSafe, SaysNoWhenNotSure) {
  for (const char* release :
       {"5.14.0-503.el9.x86_64", "5.15.0-100-generic", "6.6.80", "6.14.0", "", "garbage", "6"})
    EXPECT_FALSE(device_counters_safe_in_any_namespace(release, "#1 SMP")) << release;
}

TEST(LetsGoWhileOpen, DependsOnTheDriverAndForSomeOnTheKernel) {
  for (const Driver driver : {Driver::mlx5, Driver::mlx4, Driver::irdma, Driver::hns})
    EXPECT_TRUE(lets_go_while_open(driver, "6.1.0", "#1 SMP")) << to_string(driver);
  for (const Driver driver : {Driver::bnxt_re, Driver::erdma, Driver::mana}) {
    EXPECT_FALSE(
        lets_go_while_open(driver, "6.1.0-56-amd64", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.192-2 (2026-11-16)"));
    EXPECT_TRUE(lets_go_while_open(driver, "6.12.117+deb12-amd64",
                                   "#1 SMP PREEMPT_DYNAMIC Debian 6.12.117-1~deb12u1 (2026-11-14)"));
    EXPECT_FALSE(lets_go_while_open(driver, "6.11.11", "#1 SMP")) << to_string(driver);
    EXPECT_TRUE(lets_go_while_open(driver, "6.12.0", "#1 SMP")) << to_string(driver);
    EXPECT_FALSE(lets_go_while_open(driver, "", "")) << to_string(driver);
  }
}

TEST(LetsGoWhileOpen, IsNoWhenNotSure) {
  for (const Driver driver : {Driver::rxe, Driver::siw, Driver::efa, Driver::hfi1, Driver::unknown})
    EXPECT_FALSE(lets_go_while_open(driver, "7.0.0", "#1 SMP")) << to_string(driver);
}

struct Kernel {
  const char* release;
  const char* version;
  bool safe;
};

TEST(ResourceDumpsSafe, FollowsTheTable) {
  for (const Kernel& kernel : {
           // Debian 12 and 13: the ABI in the release says nothing, the source version does.
           Kernel{"6.1.0-50-amd64", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.187-1 (2026-07-30)", false},
           Kernel{"6.1.0-55-amd64", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.190-1 (2026-09-20)", true},
           Kernel{"6.12.107+deb13-amd64", "#1 SMP PREEMPT_DYNAMIC Debian 6.12.107-1 (2026-08-29)", false},
           Kernel{"6.12.111+deb13-amd64", "#1 SMP PREEMPT_DYNAMIC Debian 6.12.111-1 (2026-09-28)", true},
           Kernel{"6.12.117+deb12-amd64", "#1 SMP Debian 6.12.117-1~bpo12+1 (2026-11-13)", true},
           // Built from kernel.org, and those that follow its numbers (Amazon Linux, Container-Optimized OS).
           Kernel{"6.1.187", "#1 SMP", false},
           Kernel{"6.1.188", "#1 SMP", true},
           Kernel{"6.1.190-251.amzn2023.x86_64", "#1 SMP PREEMPT_DYNAMIC Tue Sep 29 2026", true},
           Kernel{"6.12.109", "#1 SMP", false},
           Kernel{"6.12.110+", "#1 SMP", true},
           Kernel{"7.2.0", "#1 SMP", false},
           Kernel{"7.2.13", "#1 SMP", true},
           Kernel{"7.3.0-rc1", "#1 SMP", true},
           Kernel{"8.0.1", "#1 SMP", true},
           // Series of which nothing is known, whatever their number.
           Kernel{"5.15.250", "#1 SMP", false},
           Kernel{"6.6.200", "#1 SMP", false},
           Kernel{"6.13.500", "#1 SMP", false},
           Kernel{"6.18.60", "#1 SMP", false},
           // Distributions whose number is that of an old base.
           Kernel{"5.14.0-503.40.1.el9_5.x86_64", "#1 SMP PREEMPT_DYNAMIC", false},
           Kernel{"6.12.0-124.8.1.el10_1.x86_64", "#1 SMP PREEMPT_DYNAMIC", false},
           Kernel{"6.8.0-79-generic", "#79-Ubuntu SMP PREEMPT_DYNAMIC", false},
           Kernel{"6.17.2-1-pve", "#1 SMP PREEMPT_DYNAMIC PMX 6.17.2-1", false},
           Kernel{"6.4.0-150600.23.47-default", "#1 SMP PREEMPT_DYNAMIC", false},
           Kernel{"", "", false},
           Kernel{"garbage", "#1 SMP", false},
           Kernel{"6.1", "#1 SMP", false},
       })
    EXPECT_EQ(resource_dumps_safe(kernel.release, kernel.version), kernel.safe)
        << kernel.release << kernel.version;
}

}  // namespace
}  // namespace rdma_exporter::host
