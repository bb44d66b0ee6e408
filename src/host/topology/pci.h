// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/fs/host_fs.h"

namespace rdma_exporter::host {

/// The PCI function below an RDMA device; all empty for software devices.
struct PciFunction {
  std::string path;     ///< below sysfs
  std::string address;  ///< "0000:3b:00.0"
  std::string physfn;   ///< address of the physical function; set for a virtual function only
  bool is_vf() const { return !physfn.empty(); }
};

/// Finds the PCI function that `device_path` (class/infiniband/X/device) is, or is part of: a sub-function
/// hangs below its function as an auxiliary device (mlx5_core.sf.N).
PciFunction find_pci_function(HostFs& sysfs, const std::string& device_path);

/// Whether `name` is that of a PCI function in sysfs: "0000:3b:00.0".
bool is_pci_address(std::string_view name);

/// The functions on the path from the one at the canonical `path` to the root complex, itself first: adapter,
/// port of a switch, ..., root port. Paths below sysfs.
std::vector<std::string> pci_path_to_root(const std::string& path);

}  // namespace rdma_exporter::host
