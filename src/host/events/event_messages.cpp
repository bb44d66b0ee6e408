// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/events/event_messages.h"

#include "host/events/uevent.h"
#include "host/netlink/link_message.h"
#include "host/netlink/nldev/nldev.h"

namespace rdma_exporter::host {

void on_loss(EventSource source, const EventSink& sink) {
  sink.counts.lost(source);
  sink.changes.note_all();
}

std::string on_uevent(Bytes datagram, const EventSink& sink) {
  const auto event = parse_uevent(datagram);
  if (!event) {
    on_loss(EventSource::uevent, sink);
    return {};
  }
  const bool verbs = event->subsystem == "infiniband_verbs";
  if (!verbs && event->subsystem != "infiniband") return {};
  sink.counts.received(EventSource::uevent);
  sink.changes.note_all();
  return verbs && event->action == "remove" ? std::string(event->name()) : std::string();
}

void on_monitor(Bytes datagram, const EventSink& sink) {
  const auto events = nldev::parse_monitor(datagram);
  if (!events) return on_loss(EventSource::monitor, sink);
  if (*events == 0) return;
  sink.counts.received(EventSource::monitor, *events);
  sink.changes.note_all();
}

void on_links(Bytes datagram, const EventSink& sink) {
  const auto parsed = parse_links(datagram, [&](std::string_view name) {
    sink.counts.received(EventSource::link);
    sink.changes.note(name);
    sink.changes.note_links();
  });
  if (!parsed) on_loss(EventSource::link, sink);
}

}  // namespace rdma_exporter::host
