// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/kernel_release.h"

#include <gtest/gtest.h>

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
    EXPECT_FALSE(lets_go_while_open(driver, "", "")) << to_string(driver);
  }
}

TEST(LetsGoWhileOpen, IsNoWhenNotSure) {
  for (const Driver driver : {Driver::rxe, Driver::siw, Driver::efa, Driver::hfi1, Driver::unknown})
    EXPECT_FALSE(lets_go_while_open(driver, "7.0.0", "#1 SMP")) << to_string(driver);
}

}  // namespace
}  // namespace rdma_exporter::host
