// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>

#include "core/result.h"
#include "host/ethtool/ethtool.h"

namespace rdma_exporter::host {

/// What a network interface's driver says of itself (ETHTOOL_GDRVINFO). Any bytes, at most 31 each; empty
/// where the driver says nothing.
struct DriverInfo {
  std::string driver;            ///< "mlx5_core", "bonding"
  std::string firmware_version;  ///< in the driver's format: "28.39.1002 (MT_0000000838)"
  std::string bus_address;       ///< "0000:3b:00.0"
};

/// EOPNOTSUPP: the driver does not say. No firmware is asked by the drivers of RDMA adapters.
core::Result<DriverInfo> driver_info(Ethtool& ethtool, const std::string& netdev);

}  // namespace rdma_exporter::host
