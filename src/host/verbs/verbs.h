// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace rdma_exporter::host {

/// Asynchronous events that a context gets without owning anything: those of ports and of the device
/// (include/rdma/ib_verbs.h enum ib_event_type). The events of queue pairs, completion queues and shared
/// receive queues go to the program that made them and to nobody else (core/uverbs_main.c uverbs_uobj_event),
/// so an observer cannot count them.
enum class AsyncEventType : std::uint8_t {
  port_active,
  port_err,
  gid_change,
  lid_change,
  pkey_change,
  sm_change,
  client_reregister,
  device_fatal,
  other,  ///< of a kernel newer than this list
};

/// Names as in enum ibv_event_type, in the order of AsyncEventType.
inline constexpr std::array<std::string_view, 9> kAsyncEventNames{
    "PORT_ACTIVE", "PORT_ERR",          "GID_CHANGE",   "LID_CHANGE", "PKEY_CHANGE",
    "SM_CHANGE",   "CLIENT_REREGISTER", "DEVICE_FATAL", "OTHER"};
static_assert(kAsyncEventNames.size() == static_cast<std::size_t>(AsyncEventType::other) + 1);
static_assert(kAsyncEventNames[static_cast<std::size_t>(AsyncEventType::device_fatal)] == "DEVICE_FATAL");

struct AsyncEvent {
  AsyncEventType type;
  std::uint32_t port;  ///< 0 for an event of the whole device
};

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

/// A character device through which programs use RDMA.
struct DeviceNode {
  std::string name;        ///< "uverbs0", "rdma_cm"
  bool for_all = false;    ///< everybody may read and write it; its directory lets everybody in
  bool for_group = false;  ///< its group may
};

/// Those of /dev/infiniband: uverbsN and rdma_cm (rdma-core gives them the mode 0666). ENOENT: there is no
/// such directory. Of the running system always, as no file system below a root has device files.
core::Result<std::vector<DeviceNode>> device_nodes();

}  // namespace rdma_exporter::host
