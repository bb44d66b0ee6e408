// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>
#include <string_view>

#include "host/topology/driver.h"

namespace rdma_exporter::host {

/// What uname reports about a kernel.
struct Kernel {
  std::string release = {};  ///< "6.1.0-56-amd64"
  std::string version = {};  ///< "#1 SMP PREEMPT_DYNAMIC Debian 6.1.192-2 (2026-11-16)"
  std::string machine = {};  ///< "x86_64"
};

/// The running kernel.
Kernel running_kernel();

/// True if the driver is known to release a device although programs have its verbs device open (struct
/// ib_device_ops.disassociate_ucontext). With other drivers the removal of the device, and `rdma link
/// delete`, wait until the last program has closed it. `release` and `version` are uname's; false if unsure.
bool lets_go_while_open(Driver driver, std::string_view release, std::string_view version);

/// True when the running kernel is known to be free of the races between readers of RDMA resource dumps and
/// the destruction of queue pairs, completion queues, memory regions and shared receive queues: use after
/// free in ib_query_qp() and others (CVE-2026-92512, CVE-2026-74334, CVE-2026-92508). Known are:
/// mainline 7.3, for which the series "restrack: fix use after free" of July 2026 was queued; 7.2.13 (source
/// looked at); 6.12.110 and 6.1.188 (Debian's changelogs of 6.12.111-1 and 6.1.190-1). False for every other
/// kernel: some may have the fixes under a version of their own, which says nothing (RHEL's 5.14.0,
/// Ubuntu's 6.8.0).
bool resource_dumps_safe(std::string_view release, std::string_view version);

}  // namespace rdma_exporter::host
