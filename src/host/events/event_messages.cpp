// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/events/event_messages.h"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <cstddef>
#include <optional>

#include "host/netlink/netlink_attr.h"
#include "host/netlink/nldev/nldev.h"

namespace rdma_exporter::host {
namespace {

// include/linux/kobject.h: UEVENT_BUFFER_SIZE 2048 for the keys; before them the head, whose path is in the
// keys too.
constexpr std::size_t kLongest = 2 * 2048;

// The text up to the next NUL, which has to be there; removed from `bytes`.
std::optional<std::string_view> take_text(std::string_view& bytes) {
  const std::size_t end = bytes.find('\0');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view text = bytes.substr(0, end);
  bytes.remove_prefix(end + 1);
  return text;
}

// struct ifinfomsg and attributes; empty for a message that is not about the interface itself.
core::Result<std::string_view> parse_link(Bytes payload) {
  ifinfomsg link;  // NOLINT(cppcoreguidelines-pro-type-member-init): copied into
  if (payload.size() < sizeof link) return core::parse_error();
  std::memcpy(&link, payload.data(), sizeof link);
  if (link.ifi_family != AF_UNSPEC) return std::string_view();
  std::string_view name;
  const bool whole = for_each_attr(payload.subspan(NLMSG_ALIGN(sizeof link)), [&](const Attr& attr) {
    if (attr.type == IFLA_IFNAME) name = attr.text();
  });
  if (!whole || name.empty()) return core::parse_error();
  return name;
}

}  // namespace

core::Result<Uevent> parse_uevent(Bytes datagram) {
  if (datagram.size() > kLongest) return core::parse_error();
  std::string_view left(reinterpret_cast<const char*>(datagram.data()), datagram.size());
  const auto head = take_text(left);
  const std::size_t at = head ? head->find('@') : std::string_view::npos;
  if (at == std::string_view::npos || at == 0) return core::parse_error();
  Uevent event{head->substr(0, at), head->substr(at + 1), {}};
  if (!event.device_path.starts_with('/') || event.name().empty()) return core::parse_error();
  while (!left.empty()) {
    const auto text = take_text(left);
    const std::size_t equals = text ? text->find('=') : std::string_view::npos;
    if (equals == std::string_view::npos) return core::parse_error();
    const std::string_view key = text->substr(0, equals);
    const std::string_view value = text->substr(equals + 1);
    if (key == "SUBSYSTEM") event.subsystem = value;
    if (key == "ACTION" && value != event.action) return core::parse_error();
    if (key == "DEVPATH" && value != event.device_path) return core::parse_error();
  }
  if (event.subsystem.empty()) return core::parse_error();
  return event;
}

core::Result<void> parse_links(Bytes datagram, const std::function<void(std::string_view)>& on_link) {
  core::Result<void> result;
  const bool whole = for_each_message(datagram, [&](const nlmsghdr& header, Bytes payload) {
    if (!result || (header.nlmsg_type != RTM_NEWLINK && header.nlmsg_type != RTM_DELLINK)) return;
    const auto name = parse_link(payload);
    if (!name) result = tl::unexpected(name.error());
    if (name && !name->empty()) on_link(*name);
  });
  if (!whole && result) result = core::parse_error();
  return result;
}

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
