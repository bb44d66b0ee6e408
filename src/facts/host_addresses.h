// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "facts/facts.h"
#include "host/host.h"

namespace rdma_exporter::facts {

/// The addresses of all interfaces of the host, without link-local ones. The kernel lists only all of them at
/// once, so one list serves every device that is looked at in the same pass. Thread-safe; who asks while
/// another thread reads the list waits for it.
class HostAddresses {
 public:
  using Clock = std::chrono::steady_clock;
  using ByInterface = std::map<std::uint32_t, std::vector<AddressFacts>>;  ///< by ifindex
  using Listed = Fact<std::shared_ptr<const ByInterface>>;

  /// The list as it was at `not_before` or later. May block for as long as the kernel takes.
  Listed since(host::Host& host, Clock::time_point not_before);

 private:
  std::mutex mutex_;
  Clock::time_point read_at_{};
  Listed listed_ = unread();
};

}  // namespace rdma_exporter::facts
