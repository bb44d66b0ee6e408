// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "collectors/resource/resource_table.h"
#include "collectors/settings.h"
#include "host/fs/host_fs.h"

namespace rdma_exporter::collectors {

/// Shares of the owners in each table that is attributed; nullptr: unknown.
struct SharesByTable {
  const OwnerShares* qps = nullptr;
  const OwnerShares* mrs = nullptr;
  const OwnerShares* cqs = nullptr;
  const OwnerShares* contexts = nullptr;
};

/// Samples of the owners of a device's objects. Owners are the workloads that started the processes,
/// identified by /proc/PID below `procfs`. The `top` owners with the most bytes in memory regions are named;
/// the others are combined as "other". Objects whose owner cannot be determined are "unknown" and counted by
/// reason. Reads at most two short files per process. If a process ends meanwhile and its PID is reused, the
/// new process is taken for the owner.
std::vector<ResourceRow> owner_rows(const SharesByTable& shares, host::HostFs& procfs,
                                    ResourceSettings::Owners mode, std::size_t top);

}  // namespace rdma_exporter::collectors
