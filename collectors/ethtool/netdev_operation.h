// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <string_view>

#include "core/job.h"
#include "core/result.h"
#include "host/fs/host_fs.h"
#include "host/topology/netdev.h"

namespace rdma_exporter::collectors {

/// One kind of request about one network interface, or a part of it, and whether it is worth asking: what a
/// driver does not support is said once in the log (level debug) and asked again after a while. The wait
/// doubles from kFirstRetry to kMaxRetry, so that a refusal which was not meant for ever costs little.
/// One thread at a time.
class NetdevOperation {
 public:
  using Clock = core::JobRun::Clock;
  /// `name` is static text for the log.
  explicit NetdevOperation(std::string_view name) : name_(name) {}

  bool worth_asking(Clock::time_point now) const { return now >= not_before_; }

  /// An answer came. One that holds nothing, and never held anything, means "not supported" as well: the
  /// kernel answers some requests for drivers that have no part in them (net/ethtool/stats.c, module.c).
  void answered(bool holds_something, const host::Netdev& netdev, Clock::time_point now);

  /// No answer came. False when the interface is not there any more (deleted, renamed, in another network
  /// namespace): no error, and nothing more to ask. Every other error than "not supported" is counted.
  bool failed(const core::Error& error, const host::Netdev& netdev, host::HostFs& sysfs, core::JobRun& run);

  /// The driver or the kernel does not have it: failed() and answered() find that out by themselves.
  void unsupported(const host::Netdev& netdev, Clock::time_point now);

  static constexpr std::chrono::seconds kFirstRetry{10};
  static constexpr std::chrono::seconds kMaxRetry{300};

 private:
  std::string_view name_;
  Clock::time_point not_before_;
  std::chrono::seconds wait_ = kFirstRetry;
  bool supported_ = false;  ///< has held something
  bool logged_ = false;
};

}  // namespace rdma_exporter::collectors
