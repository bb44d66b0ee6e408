// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Any bytes as notifications of the kernel: uevents, link messages, MONITOR messages. Everything read lies in
// the datagram, and every datagram counts as an event or as lost.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "host/events/event_messages.h"
#include "host/netlink/nldev/nldev.h"
#include "tests/fuzz/check.h"

namespace {

using namespace rdma_exporter;
using fuzz::check;
using host::EventSource;

bool inside(std::string_view text, host::Bytes datagram) {
  const char* begin = reinterpret_cast<const char*>(datagram.data());
  return text.data() >= begin && text.data() + text.size() <= begin + datagram.size();
}

void check_uevent(host::Bytes datagram) {
  const auto event = host::parse_uevent(datagram);
  if (!event) return check(event.error().kind == core::Errc::parse, "a parse error");
  check(inside(event->action, datagram) && inside(event->device_path, datagram),
        "the texts are in the datagram");
  check(inside(event->subsystem, datagram) && !event->subsystem.empty(), "a subsystem of the datagram");
  check(!event->name().empty() && event->name().find('/') == std::string_view::npos,
        "a name without a slash");
}

void check_links(host::Bytes datagram) {
  std::size_t links = 0;
  const auto parsed = host::parse_links(datagram, [&](std::string_view name) {
    ++links;
    check(!name.empty() && inside(name, datagram), "a name of the datagram");
  });
  check(links * 36 <= datagram.size(), "no more links than fit: two headers, an attribute");
  if (!parsed) check(parsed.error().kind == core::Errc::parse, "a parse error");
}

void check_messages(host::Bytes datagram) {
  host::Changes changes;
  host::EventCounts counts;
  const host::EventSink sink{changes, counts};
  (void)host::on_uevent(datagram, sink);
  host::on_links(datagram, sink);
  host::on_monitor(datagram, sink);
  for (const EventSource source : {EventSource::uevent, EventSource::link, EventSource::monitor})
    check(counts.source(source).lost <= 1, "a datagram is lost once");
  const auto lost = counts.source(EventSource::uevent).lost + counts.source(EventSource::link).lost +
                    counts.source(EventSource::monitor).lost;
  check(changes.all() >= lost, "what is lost is a reason to read everything again");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const host::Bytes datagram = std::as_bytes(std::span(data, size));
  check_uevent(datagram);
  check_links(datagram);
  check_messages(datagram);
  (void)host::nldev::parse_monitor_support(datagram);
  return 0;
}
