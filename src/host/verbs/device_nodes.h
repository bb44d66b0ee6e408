// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>
#include <vector>

#include "core/result.h"

namespace rdma_exporter::host {

/// A character device through which programs use RDMA.
struct DeviceNode {
  std::string name;        ///< "uverbs0", "rdma_cm"
  bool for_all = false;    ///< everybody may read and write it; its directory lets everybody in
  bool for_group = false;  ///< its group may
};

/// Those of /dev/infiniband: uverbsN and rdma_cm (rdma-core gives them the mode 0666). ENOENT: there is no
/// such directory. Of the running system always, as no file system below a root has device files.
core::Result<std::vector<DeviceNode>> device_nodes();

}  // namespace rdma_exporter::host
