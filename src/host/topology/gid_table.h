// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/result.h"
#include "host/fs/host_fs.h"

namespace rdma_exporter::host {

/// A filled slot of a port's GID table.
struct Gid {
  std::string slot;  ///< name of its file: "3"; gid_attrs/ndevs/SLOT is the interface that has the address
  std::string gid;   ///< as printed: eight groups of four hexadecimal digits
  std::string type;  ///< "RoCE v2", or "IB/RoCE v1": InfiniBand GIDs print that too
};

/// Reads `ports/N/gids` and `gid_attrs/types` below `port_path`: 256 to 1024 slots, two files each, all from
/// the kernel's memory. Empty slots (an all-zero GID, or EINVAL on their type: core/sysfs.c) are left out.
/// What could not be read of a slot goes to `on_error`, EINVAL of an empty one too. ENOENT: there is no
/// table.
core::Result<std::vector<Gid>> read_gids(HostFs& sysfs, const std::string& port_path,
                                         const std::function<void(const core::Error&)>& on_error);

}  // namespace rdma_exporter::host
