// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string_view>

#include "core/result.h"
#include "host/netlink/netlink.h"

namespace rdma_exporter::host {

/// One message of the kernel about a device that came, went, was renamed or changed (lib/kobject_uevent.c).
/// The texts live in the message.
struct Uevent {
  std::string_view action;       ///< "add", "remove", "move", "change", ...
  std::string_view device_path;  ///< below sysfs, with a leading slash: "/devices/virtual/infiniband/rxe0"
  std::string_view subsystem;    ///< "infiniband", "infiniband_verbs", "net", ...
  /// Last component of the path: "rxe0", "uverbs0".
  std::string_view name() const { return device_path.substr(device_path.rfind('/') + 1); }
};

/// Reads `ACTION@DEVPATH` and the KEY=VALUE texts behind it, each ended by NUL. A parse error for anything
/// else: no subsystem, a head that its keys contradict, more than the kernel can send. The messages of udevd
/// (they start with "libudev") are refused too.
core::Result<Uevent> parse_uevent(Bytes datagram);

}  // namespace rdma_exporter::host
