// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/result.h"
#include "host/verbs/async_event.h"

namespace rdma_exporter::host {

/// RDMA path MTUs of a port in bytes (256, 512, 1024, 2048, 4096): payload without headers.
struct PortMtu {
  std::uint32_t active;
  std::uint32_t max;
};

/// How many objects of each kind a device can have at most (ibv_query_device, struct ibv_device_attr). 0
/// where the device has none or does not say.
struct DeviceLimits {
  std::uint32_t qps = 0;
  std::uint32_t cqs = 0;
  std::uint32_t mrs = 0;
  std::uint32_t pds = 0;
  std::uint32_t srqs = 0;
};

/// The asynchronous events of one device. Only an open context gets them, so this holds one: it counts as one
/// in `rdma resource`, and a driver that cannot take it away (see lets_go_while_open()) waits with the
/// removal of the device until it is closed. One thread at a time. Closing may block like any firmware
/// command.
class AsyncEvents {
 public:
  virtual ~AsyncEvents() = default;
  /// Readable when there is an event, or the end.
  virtual int fd() const = 0;
  /// The next event, nullopt when none is waiting; never blocks. An error is the end: the driver has taken
  /// the context away.
  virtual core::Result<std::optional<AsyncEvent>> next() = 0;
  /// Name of the character device: "uverbs0".
  virtual const std::string& node() const = 0;
};

/// What the kernel tells over the verbs device only. A query opens the device's context and closes it again:
/// nothing stays allocated. May block like any firmware command: call from workers. Thread-safe.
class Verbs {
 public:
  virtual ~Verbs() = default;
  /// ENODEV: no such device or no user space driver for it; EACCES, ENOENT: no access to
  /// /dev/infiniband/uverbsN, or it is not there (a container); the context of the error names it.
  virtual core::Result<PortMtu> port_mtu(const std::string& device, std::uint32_t port) = 0;
  /// The same errors.
  virtual core::Result<std::unique_ptr<AsyncEvents>> async_events(const std::string& device) = 0;
  /// Errors as of port_mtu(). Fixed while the device is registered: ask once.
  virtual core::Result<DeviceLimits> device_limits(const std::string& device) = 0;
};

/// True when an error of a query says that the device has no verbs here, which is no failure: ENODEV, no user
/// space driver in this installation; EOPNOTSUPP, none in the kernel.
bool means_no_verbs(const core::Error& error);

/// Through libibverbs.
std::unique_ptr<Verbs> make_verbs();

}  // namespace rdma_exporter::host
