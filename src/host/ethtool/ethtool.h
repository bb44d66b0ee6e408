// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "core/result.h"

namespace rdma_exporter::host {

/// The SIOCETHTOOL ioctl (net/ethtool/ioctl.c): the only source of driver statistics, because ethtool's
/// netlink has no message for their values. The seam between bytes and parsers. Thread-safe. A call holds the
/// kernel's RTNL lock for as long as the driver's firmware takes.
class Ethtool {
 public:
  virtual ~Ethtool() = default;
  /// Executes the command in `buffer` (one of the structures of include/uapi/linux/ethtool.h, starting with
  /// `cmd`) on a network interface; the kernel writes its answer there. ENODEV: no such interface in our
  /// network namespace; EOPNOTSUPP: the driver does not know the command. Kernels before the fix "Avoid
  /// overflowing userspace buffer on stats query" (2025-12) write all they have, whatever length the
  /// structure states. Let the buffer end at a page that nobody may write (GuardedBuffer): then they answer
  /// EFAULT.
  virtual core::Result<void> execute(const std::string& netdev, std::span<std::byte> buffer) = 0;
};

/// How much of the buffer of a command is the request; the rest is room for the answer. `buffer` as for
/// execute(), at least 4 bytes.
std::size_t ethtool_request_size(std::span<const std::byte> buffer);

/// Opens its socket at the first call.
std::unique_ptr<Ethtool> make_ethtool();

/// What the driver of a network interface reports about itself (ETHTOOL_GDRVINFO). Any bytes, at most 31
/// each; empty if the driver has no value.
struct DriverInfo {
  std::string driver;            ///< "mlx5_core", "bonding"
  std::string firmware_version;  ///< in the driver's format: "28.39.1002 (MT_0000000838)"
  std::string bus_address;       ///< "0000:3b:00.0"
};

/// EOPNOTSUPP: the driver has no such operation. The drivers of RDMA adapters answer without asking firmware.
core::Result<DriverInfo> driver_info(Ethtool& ethtool, const std::string& netdev);

}  // namespace rdma_exporter::host
