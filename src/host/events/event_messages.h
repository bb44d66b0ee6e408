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

// The datagrams of each event source: how they are parsed, what is counted, and what has to be read again. A
// datagram that cannot be parsed counts as lost, and then everything is read again.
namespace rdma_exporter::host {

/// A kernel message about a device that came, went, was renamed or changed (lib/kobject_uevent.c). Its texts
/// point into the message.
struct Uevent {
  std::string_view action;       ///< "add", "remove", "move", "change", ...
  std::string_view device_path;  ///< below sysfs, with a leading slash: "/devices/virtual/infiniband/rxe0"
  std::string_view subsystem;    ///< "infiniband", "infiniband_verbs", "net", ...
  /// Last component of the path: "rxe0", "uverbs0".
  std::string_view name() const { return device_path.substr(device_path.rfind('/') + 1); }
};

/// Parses `ACTION@DEVPATH` and the KEY=VALUE texts after it, each terminated by NUL. Everything else is a
/// parse error: no subsystem, a head that contradicts the keys, more than the kernel can send, messages of
/// udevd (which start with "libudev").
core::Result<Uevent> parse_uevent(Bytes datagram);

/// Parses a datagram of the rtnetlink group of links (net/core/rtnetlink.c rtmsg_ifinfo): calls `on_link`
/// with the name of each interface that came, went or changed (state, carrier, MTU, address, name, ...). The
/// name points into the datagram. Messages about bridge ports and of other types are skipped. A malformed
/// message ends the walk with a parse error.
core::Result<void> parse_links(Bytes datagram, const std::function<void(std::string_view name)>& on_link);

struct EventSink {
  Changes& changes;
  EventCounts& counts;
};

/// Messages were lost, or one could not be read.
void on_loss(EventSource source, const EventSink& sink);

/// Handles devices of the RDMA subsystems that came, went or were renamed; skips all others. Returns the name
/// of a verbs character device ("uverbs0") that is being removed, else an empty text. The kernel announces
/// that before it waits for the programs that have the device open (core/uverbs_main.c ib_uverbs_remove_one).
std::string on_uevent(Bytes datagram, const EventSink& sink);

/// RDMA netlink: any of its messages means that devices or their network interfaces changed.
void on_monitor(Bytes datagram, const EventSink& sink);

/// Network interfaces. Whether they belong to an RDMA port is not known here.
void on_links(Bytes datagram, const EventSink& sink);

}  // namespace rdma_exporter::host
