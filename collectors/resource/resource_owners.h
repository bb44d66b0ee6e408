// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "collectors/resource/resource_settings.h"
#include "collectors/resource/resource_table.h"
#include "host/fs/host_fs.h"

namespace rdma_exporter::collectors {

/// Shares of the owners in the tables that are attributed; nullptr: not known.
struct SharesByTable {
  const OwnerShares* qps = nullptr;
  const OwnerShares* mrs = nullptr;
  const OwnerShares* cqs = nullptr;
  const OwnerShares* contexts = nullptr;
};

/// Samples of the owners of a device's objects: processes named by /proc/PID below `procfs`, added up by what
/// started them. Named are the `top` owners with most bytes in memory regions, the others together are
/// "other". Objects whose owner cannot be named are "unknown" and counted by reason. Reads two short files
/// per process at most; a process that ends meanwhile, or a PID that is another process by now, is not told
/// apart from the owner.
std::vector<ResourceRow> owner_rows(const SharesByTable& shares, host::HostFs& procfs,
                                    ResourceSettings::Owners mode, std::size_t top);

}  // namespace rdma_exporter::collectors
