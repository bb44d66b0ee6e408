// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/result.h"
#include "host/events/changes.h"
#include "host/events/event_counts.h"
#include "host/netlink/netlink.h"

// The datagrams of each event source: how they are read, what is counted, and what is to be read again.
// Whatever cannot be read counts as lost, and everything is read again.
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

/// Reads a datagram of the rtnetlink group of links (net/core/rtnetlink.c rtmsg_ifinfo): calls `on_link` with
/// the name of each interface that came, went or changed (state, carrier, MTU, address, name, ...). The name
/// lives in the datagram. Messages about a bridge's ports and of other types are passed over. A malformed
/// message ends the walk with a parse error.
core::Result<void> parse_links(Bytes datagram, const std::function<void(std::string_view name)>& on_link);

struct EventSink {
  Changes& changes;
  EventCounts& counts;
};

/// Messages were lost, or one could not be read.
void on_loss(EventSource source, const EventSink& sink);

/// Devices of the RDMA subsystems that came, went or were renamed; all others are passed over. Returns the
/// name of a verbs character device ("uverbs0") that is being removed, else an empty text. The kernel says so
/// before it waits for the programs that have the device open (core/uverbs_main.c ib_uverbs_remove_one).
std::string on_uevent(Bytes datagram, const EventSink& sink);

/// RDMA netlink: any of its messages means that devices or their network interfaces changed.
void on_monitor(Bytes datagram, const EventSink& sink);

/// Network interfaces, of which we do not know here whether they belong to an RDMA port.
void on_links(Bytes datagram, const EventSink& sink);

}  // namespace rdma_exporter::host
