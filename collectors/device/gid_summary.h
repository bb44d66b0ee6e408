// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/job.h"
#include "host/fs/host_fs.h"

namespace rdma_exporter::collectors {

/// What operators ask of a port's GID table. 256 to 1024 slots, two files each: read rarely.
struct GidSummary {
  /// Number of GIDs by type; nullopt when the table is not there or a part of it could not be read.
  struct Counts {
    std::uint64_t roce_v2 = 0;
    std::uint64_t ib_or_roce_v1 = 0;  ///< InfiniBand GIDs and RoCE v1 ones print the same type
  };
  std::optional<Counts> counts;
  std::string netdev;  ///< of the first GID that has one
};

/// Reads `ports/N/gids` and `gid_attrs` below `port_path`. Empty slots (an all-zero GID, or EINVAL on their
/// type: core/sysfs.c) count as nothing; what should have been readable is counted in `run`.
GidSummary read_gid_summary(host::HostFs& sysfs, const std::string& port_path, core::JobRun& run);

}  // namespace rdma_exporter::collectors
