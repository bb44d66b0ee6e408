// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>

#include "host/events/changes.h"
#include "host/events/event_counts.h"
#include "host/netlink/netlink.h"

// What a datagram of each event source means: what is counted, and what is to be read again. Whatever cannot
// be read counts as lost, and everything is read again.
namespace rdma_exporter::host {

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
