// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <string_view>

#include "core/job.h"
#include "core/result.h"
#include "host/fs/host_fs.h"
#include "host/topology/netdev.h"
#include "task/schedule.h"

namespace rdma_exporter::collectors {

/// One kind of request about one network interface, and whether it is worth sending. An operation that the
/// driver does not support is logged once (level debug) and retried later. The wait doubles from kFirstRetry
/// to kMaxRetry, so that a refusal which was only temporary costs little. One thread at a time.
class NetdevOperation {
 public:
  using Clock = core::JobRun::Clock;
  /// `name` must be a string literal; it is used in the log.
  explicit NetdevOperation(std::string_view name) : name_(name) {}

  bool worth_asking(Clock::time_point now) const { return schedule_.due(now); }

  /// Call this after an answer. If no answer has ever contained anything, that also means "not supported":
  /// the kernel answers some requests on behalf of drivers that do not implement them (net/ethtool/stats.c,
  /// module.c).
  void answered(bool holds_something, const host::Netdev& netdev, Clock::time_point now);

  /// Call this if there was no answer. False if the interface has disappeared (deleted, moved to another
  /// network namespace) or is being renamed, which is not an error and makes further requests pointless.
  /// Every error except "not supported" is counted.
  bool failed(const core::Error& error, const host::Netdev& netdev, host::HostFs& sysfs, core::JobRun& run);

  /// Call this if the driver or kernel is known not to support the operation; failed() and answered() detect
  /// that themselves.
  void unsupported(const host::Netdev& netdev, Clock::time_point now);

  static constexpr std::chrono::seconds kFirstRetry{10};
  static constexpr std::chrono::seconds kMaxRetry{300};

 private:
  std::string_view name_;
  task::Schedule schedule_{kFirstRetry / 2, kMaxRetry};  ///< the first back-off doubles it
  bool supported_ = false;                               ///< an answer has contained something
  bool logged_ = false;
  bool unknown_ = false;  ///< the last request got ENODEV
};

}  // namespace rdma_exporter::collectors
