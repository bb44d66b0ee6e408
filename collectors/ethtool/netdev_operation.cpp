// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/ethtool/netdev_operation.h"

#include <cerrno>
#include <string>
#include <utility>

#include "log/log.h"

namespace rdma_exporter::collectors {
namespace {

// include/linux/errno.h: not meant for user space, but some drivers return it.
constexpr int kKernelNotSupported = 524;  // ENOTSUPP

bool means_unsupported(const core::Error& error) {
  // EOPNOTSUPP: the driver, or the family in this kernel, has no such operation.
  return core::is_errno(error, EOPNOTSUPP) || core::is_errno(error, kKernelNotSupported);
}

bool still_there(const host::Netdev& netdev, host::HostFs& sysfs) {
  const auto id = sysfs.stat(netdev.path);
  return id && *id == netdev.id;
}

}  // namespace

void NetdevOperation::unsupported(const host::Netdev& netdev, Clock::time_point now) {
  schedule_.back_off(now);
  if (std::exchange(logged_, true)) return;
  log::debug("not supported by this network interface",
             {{"netdev", netdev.name}, {"operation", std::string(name_)}});
}

void NetdevOperation::answered(bool holds_something, const host::Netdev& netdev, Clock::time_point now) {
  unknown_ = false;
  supported_ = supported_ || holds_something;
  if (holds_something) schedule_.reset();
  if (!supported_) unsupported(netdev, now);
}

bool NetdevOperation::failed(const core::Error& error, const host::Netdev& netdev, host::HostFs& sysfs,
                             core::JobRun& run) {
  // While an interface is renamed (net/core/dev.c dev_change_name), the kernel knows it by neither name, and
  // sysfs has the old one a little longer. Only the second ENODEV in a row is one of an interface that stays.
  const bool unknown = core::is_errno(error, ENODEV);
  const bool again = std::exchange(unknown_, unknown);
  if (unknown && (!again || !still_there(netdev, sysfs))) return false;
  if (means_unsupported(error)) {
    unsupported(netdev, run.now());
  } else {
    run.count_read_error(core::reason(error));
  }
  return true;
}

}  // namespace rdma_exporter::collectors
