// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "core/result.h"

namespace rdma_exporter::host {

/// Received LLDP frames of all interfaces in this network namespace. Nothing is ever sent. The kernel keeps
/// frames until they are read; when its buffer is full it drops newer ones. Thread-safe; only listen_on()
/// blocks.
class LldpFrames {
 public:
  virtual ~LldpFrames() = default;

  struct Frame {
    std::uint32_t interface = 0;       ///< index of the interface it came in on: of a bond, the member
    std::chrono::milliseconds age{0};  ///< since the kernel took it
    std::span<const std::byte> bytes;  ///< from the Ethernet header on; valid during the call
  };
  using OnFrame = std::function<void(const Frame& frame)>;

  /// Passes on the frames that were received since the last call, oldest first, at most kMaxFrames.
  virtual core::Result<void> receive(const OnFrame& on_frame) = 0;

  /// Makes the adapter receive frames to the group address of LLDP ("nearest bridge", which no bridge
  /// forwards) on this interface. Waits for the kernel's RTNL lock. The kernel undoes it when the interface
  /// goes.
  virtual core::Result<void> listen_on(std::uint32_t interface) = 0;

  static constexpr std::size_t kMaxFrames = 4096;
};

/// Opens a packet socket. EPERM without CAP_NET_RAW, which nothing else needs.
core::Result<std::unique_ptr<LldpFrames>> open_lldp_frames();

}  // namespace rdma_exporter::host
