// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/job.h"
#include "host/fs/host_fs.h"
#include "host/topology/gid_table.h"

namespace rdma_exporter::collectors {

/// Summary of a port's GID table. The table has 256 to 1024 slots with two files each, so it is read rarely.
struct GidSummary {
  /// Number of GIDs by type; nullopt if the table does not exist or could not be read completely.
  struct Counts {
    std::uint64_t roce_v2 = 0;
    std::uint64_t ib_or_roce_v1 = 0;  ///< InfiniBand and RoCE v1 GIDs have the same type
  };
  std::optional<Counts> counts;
  std::string netdev;  ///< of the first GID that has one
};

/// Reads `table` of the port at `port_path`. Empty slots (an all-zero GID, or EINVAL on their type:
/// core/sysfs.c) are skipped; other failures are counted in `run`.
GidSummary read_gid_summary(host::HostFs& sysfs, const std::string& port_path, host::GidTable& table,
                            core::JobRun& run);

}  // namespace rdma_exporter::collectors
