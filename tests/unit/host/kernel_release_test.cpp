// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/kernel_release.h"

#include <gtest/gtest.h>

namespace rdma_exporter::host {
namespace {

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

struct KernelCase {
  const char* release;
  const char* version;
  bool safe;
};

TEST(ResourceDumpsSafe, FollowsTheTable) {
  for (const KernelCase& kernel : {
           // Debian 12 and 13: the ABI in the release says nothing, the source version does.
           KernelCase{"6.1.0-50-amd64", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.187-1 (2026-07-30)", false},
           KernelCase{"6.1.0-55-amd64", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.190-1 (2026-09-20)", true},
           KernelCase{"6.12.107+deb13-amd64", "#1 SMP PREEMPT_DYNAMIC Debian 6.12.107-1 (2026-08-29)", false},
           KernelCase{"6.12.111+deb13-amd64", "#1 SMP PREEMPT_DYNAMIC Debian 6.12.111-1 (2026-09-28)", true},
           KernelCase{"6.12.117+deb12-amd64", "#1 SMP Debian 6.12.117-1~bpo12+1 (2026-11-13)", true},
           // Built from kernel.org, and those that follow its numbers (Amazon Linux, Container-Optimized OS).
           KernelCase{"6.1.187", "#1 SMP", false},
           KernelCase{"6.1.188", "#1 SMP", true},
           KernelCase{"6.1.190-251.amzn2023.x86_64", "#1 SMP PREEMPT_DYNAMIC Tue Sep 29 2026", true},
           KernelCase{"6.12.109", "#1 SMP", false},
           KernelCase{"6.12.110+", "#1 SMP", true},
           KernelCase{"7.2.0", "#1 SMP", false},
           KernelCase{"7.2.13", "#1 SMP", true},
           KernelCase{"7.3.0-rc1", "#1 SMP", true},
           KernelCase{"8.0.1", "#1 SMP", true},
           // Series of which nothing is known, whatever their number.
           KernelCase{"5.15.250", "#1 SMP", false},
           KernelCase{"6.6.200", "#1 SMP", false},
           KernelCase{"6.13.500", "#1 SMP", false},
           KernelCase{"6.18.60", "#1 SMP", false},
           // Distributions whose number is that of an old base.
           KernelCase{"5.14.0-503.40.1.el9_5.x86_64", "#1 SMP PREEMPT_DYNAMIC", false},
           KernelCase{"6.12.0-124.8.1.el10_1.x86_64", "#1 SMP PREEMPT_DYNAMIC", false},
           KernelCase{"6.8.0-79-generic", "#79-Ubuntu SMP PREEMPT_DYNAMIC", false},
           KernelCase{"6.17.2-1-pve", "#1 SMP PREEMPT_DYNAMIC PMX 6.17.2-1", false},
           KernelCase{"6.4.0-150600.23.47-default", "#1 SMP PREEMPT_DYNAMIC", false},
           KernelCase{"", "", false},
           KernelCase{"garbage", "#1 SMP", false},
           KernelCase{"6.1", "#1 SMP", false},
       })
    EXPECT_EQ(resource_dumps_safe(kernel.release, kernel.version), kernel.safe)
        << kernel.release << kernel.version;
}

}  // namespace
}  // namespace rdma_exporter::host
