// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "host/host.h"
#include "host/lldp/lldp.h"
#include "host/lldp/lldp_frames.h"
#include "task/schedule.h"

namespace rdma_exporter::collectors {

/// The neighbours of all interfaces that look() was called for, received by one socket. Thread-safe.
class NeighborTable {
 public:
  using Clock = std::chrono::steady_clock;

  /// `host` must outlive it and provide open_lldp_frames.
  explicit NeighborTable(host::Host& host) : host_(host) {}

  /// The neighbours of an interface according to the frames received so far. The first call for an interface
  /// waits for the kernel's RTNL lock; others do not block. If the socket could not be opened, it is retried
  /// every kRetry.
  core::Result<host::LldpNeighbors> look(std::uint32_t interface, Clock::time_point now);
  void forget(std::uint32_t interface);

  static constexpr std::chrono::minutes kRetry{5};

 private:
  core::Result<std::shared_ptr<host::LldpFrames>> frames(Clock::time_point now);

  host::Host& host_;
  std::mutex mutex_;
  std::shared_ptr<host::LldpFrames> frames_;
  core::Error refusal_;
  task::Schedule schedule_{kRetry};                      ///< of attempts to open it
  std::map<std::uint32_t, host::LldpNeighbors> tables_;  ///< of the interfaces that look() was called for
};

}  // namespace rdma_exporter::collectors
