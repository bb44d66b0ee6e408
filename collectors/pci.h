// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>

#include "host/host_fs.h"

namespace rdma_exporter::collectors {

/// The PCI function below an RDMA device; all empty for software devices.
struct PciFunction {
  std::string path;     ///< below sysfs
  std::string address;  ///< "0000:3b:00.0"
  std::string physfn;   ///< address of the physical function; set for a virtual function only
  bool is_vf() const { return !physfn.empty(); }
};

/// Finds the PCI function that `device_path` (class/infiniband/X/device) is, or is part of: a sub-function
/// hangs below its function as an auxiliary device (mlx5_core.sf.N).
PciFunction find_pci_function(host::HostFs& sysfs, const std::string& device_path);

}  // namespace rdma_exporter::collectors
