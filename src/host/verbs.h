// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/result.h"

namespace rdma_exporter::host {

/// RDMA path MTUs of a port in bytes (256, 512, 1024, 2048, 4096): payload without headers.
struct PortMtu {
  std::uint32_t active;
  std::uint32_t max;
};

/// The few facts that the kernel tells over the verbs device only. A query opens the device's context and
/// closes it again: nothing stays allocated. May block like any firmware command: call from workers.
/// Thread-safe.
class Verbs {
 public:
  virtual ~Verbs() = default;
  /// ENODEV: no such device or no user space driver for it; EACCES, ENOENT: no access to
  /// /dev/infiniband/uverbsN, or it is not there (a container); the context of the error names it.
  virtual core::Result<PortMtu> port_mtu(const std::string& device, std::uint32_t port) = 0;
};

/// Through libibverbs.
std::unique_ptr<Verbs> make_verbs();

}  // namespace rdma_exporter::host
