// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "host/netlink/netlink.h"

// Requests and answers of the kernel's RDMA netlink device client (include/uapi/rdma/rdma_netlink.h,
// drivers/infiniband/core/nldev.c). Pure functions from and to bytes.
namespace rdma_exporter::host::nldev {

/// nlmsg_type of the commands used here: (RDMA_NL_NLDEV << 10) + command.
extern const std::uint16_t kGet;
extern const std::uint16_t kPortGet;
extern const std::uint16_t kStatGet;
extern const std::uint16_t kSysGet;

/// Attributes of a request for one device, or for one port of it.
std::vector<std::byte> device_request(std::uint32_t device_index, std::optional<std::uint32_t> port = {});

/// Answer to GET.
struct Device {
  std::uint32_t index = 0;  ///< stable for the life of the device; a new one when it is registered again
  std::string name;
  std::string protocol;  ///< "ib", "roce", "iw", "opa", "usnic"; empty where the kernel does not say (EFA)
};
core::Result<Device> parse_device(Bytes payload);

/// Answer to PORT_GET. What the kernel left out is nullopt or empty.
struct Port {
  std::optional<std::uint32_t> state;           ///< 0..5 as in sysfs `state`
  std::optional<std::uint32_t> physical_state;  ///< 0..7 as in sysfs `phys_state`
  std::optional<std::uint32_t> lid;             ///< InfiniBand only
  std::optional<std::uint32_t> sm_lid;          ///< InfiniBand only
  std::string netdev;                           ///< only if it is in the caller's network namespace
};
core::Result<Port> parse_port(Bytes payload);

/// Answer to STAT_GET for a port: calls `on_counter` for each default counter and each enabled optional one.
/// The name points into `payload`. A malformed entry ends the walk with a parse error.
using OnCounter = std::function<void(std::string_view name, std::uint64_t value)>;
core::Result<void> parse_counters(Bytes payload, const OnCounter& on_counter);

/// Answer to SYS_GET: true if the kernel reports devices that come and go (MONITOR, Linux 6.12).
core::Result<bool> parse_monitor_support(Bytes payload);

/// Answer to SYS_GET: true when every network namespace sees all RDMA devices ("shared", the default), false
/// when each device belongs to one ("exclusive"). nullopt: a kernel before 5.2.
core::Result<std::optional<bool>> parse_shared_namespaces(Bytes payload);

/// Multicast group of the MONITOR messages (RDMA_NL_GROUP_NOTIFY).
inline constexpr unsigned kMonitorGroup = 4;

/// Parses a datagram of that group: the number of its MONITOR messages, about devices that were registered,
/// unregistered or renamed and network interfaces that were attached to a port or detached. A parse error if
/// one is malformed.
core::Result<std::size_t> parse_monitor(Bytes datagram);

}  // namespace rdma_exporter::host::nldev
