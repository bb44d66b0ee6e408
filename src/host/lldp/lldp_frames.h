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

/// LLDP frames as they came in, on all interfaces of this network namespace. Nothing is ever sent. The kernel
/// keeps frames until somebody asks; when its buffer is full it drops newer ones. Thread-safe, nothing blocks
/// but listen_on().
class LldpFrames {
 public:
  virtual ~LldpFrames() = default;

  struct Frame {
    std::uint32_t interface = 0;       ///< index of the interface it came in on: of a bond, the member
    std::chrono::milliseconds age{0};  ///< since the kernel took it
    std::span<const std::byte> bytes;  ///< from the Ethernet header on; valid during the call
  };
  using OnFrame = std::function<void(const Frame& frame)>;

  /// Hands over the frames that came in since the last call, oldest first, at most kMaxFrames.
  virtual core::Result<void> receive(const OnFrame& on_frame) = 0;

  /// Has the adapter pass the group address of LLDP ("nearest bridge", the one that no bridge forwards) on
  /// this interface. Waits for the kernel's RTNL lock. Undone by the kernel when the interface goes.
  virtual core::Result<void> listen_on(std::uint32_t interface) = 0;

  static constexpr std::size_t kMaxFrames = 4096;
};

/// A packet socket. EPERM without CAP_NET_RAW, which is needed here and nowhere else.
core::Result<std::unique_ptr<LldpFrames>> open_lldp_frames();

}  // namespace rdma_exporter::host
