// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

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

}  // namespace rdma_exporter::host
