// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/events/uevent.h"

#include <cstddef>
#include <optional>

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

}  // namespace rdma_exporter::host
