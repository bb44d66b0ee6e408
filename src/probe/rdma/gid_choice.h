// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/result.h"
#include "probe/channel/frame.h"
#include "probe/rdma/gid.h"

namespace rdma_exporter::probe {

/// An entry of a port's GID table. The index is valid only for the connection being made: entries move when
/// addresses, VLANs or bonds change.
struct GidEntry {
  Gid gid;
  std::uint32_t index = 0;
  bool usable = false;       ///< RoCE v2 on Ethernet, any on InfiniBand; RoCE v1 does not leave its segment
  std::uint32_t netdev = 0;  ///< index of the network interface that has the address; 0: none
};

/// What is known about the local address of a connection.
struct GidWish {
  std::optional<Gid> exact;         ///< configured: this one or none
  std::uint32_t netdev = 0;         ///< only on this interface; 0: any
  std::optional<Gid> near_control;  ///< own address of the control connection: preferred if the port has it
  std::optional<Gid> far_control;   ///< the peer's address of that connection
  std::optional<Gid> peer;          ///< the peer's: the same family, and the longest prefix in common
  std::optional<Gid> toward;  ///< while that is not known, what was called: the longest prefix in common
};

/// The entry to use. ENOENT: the port does not have such an address now (in this network namespace).
core::Result<GidEntry> choose_gid(std::span<const GidEntry> entries, LinkLayer link, const GidWish& wish);

}  // namespace rdma_exporter::probe
