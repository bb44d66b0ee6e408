// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/fs/host_fs.h"
#include "host/topology/driver.h"

namespace rdma_exporter::host {

/// One registration of an RDMA device. Immutable: a device that is renamed, reset or registered again is
/// another Device, so that nothing remembered of the old one is used for the new one.
struct Device {
  std::string name;
  std::string path;                            ///< below sysfs: "class/infiniband/mlx5_0"
  FileId id;                                   ///< of that directory
  std::optional<std::uint32_t> netlink_index;  ///< nullopt: not in netlink, use sysfs
  std::string protocol;                        ///< "roce", "ib", "iw", "opa", "usnic" or empty
  std::string parent_driver;                   ///< "mlx5_core", "ice"; empty for software devices
  Driver driver = Driver::unknown;
  std::vector<std::uint32_t> ports;

  std::string port_path(std::uint32_t port) const { return path + "/ports/" + std::to_string(port); }
  bool operator==(const Device&) const = default;
};

}  // namespace rdma_exporter::host
