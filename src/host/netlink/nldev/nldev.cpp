// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/netlink/nldev/nldev.h"

#include "host/netlink/netlink_attr.h"
#include "host/netlink/nldev/wire.h"

namespace rdma_exporter::host::nldev {
namespace {

// include/uapi/rdma/rdma_netlink.h of Linux 6.12, which older headers lack. The numbers are ABI.
constexpr unsigned kCommandMonitor = 28;         // RDMA_NLDEV_CMD_MONITOR
constexpr std::uint16_t kAttrEventType = 102;    // RDMA_NLDEV_ATTR_EVENT_TYPE, u8
constexpr std::uint16_t kAttrMonitorMode = 103;  // RDMA_NLDEV_SYS_ATTR_MONITOR_MODE, u8

core::Result<void> parse_entry(Bytes entry, const OnCounter& on_counter) {
  std::string_view name;
  std::optional<std::uint64_t> value;
  const bool whole = for_each_attr(entry, [&](const Attr& attr) {
    if (attr.type == RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME) name = attr.text();
    if (attr.type == RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE) value = attr.number<std::uint64_t>();
  });
  if (!whole || name.empty() || !value) return core::parse_error();
  on_counter(name, *value);
  return {};
}

}  // namespace

const std::uint16_t kGet = type_of(RDMA_NLDEV_CMD_GET);
const std::uint16_t kPortGet = type_of(RDMA_NLDEV_CMD_PORT_GET);
const std::uint16_t kStatGet = type_of(RDMA_NLDEV_CMD_STAT_GET);
const std::uint16_t kSysGet = type_of(RDMA_NLDEV_CMD_SYS_GET);

std::vector<std::byte> device_request(std::uint32_t device_index, std::optional<std::uint32_t> port) {
  std::vector<std::byte> payload;
  append_u32(payload, RDMA_NLDEV_ATTR_DEV_INDEX, device_index);
  if (port) append_u32(payload, RDMA_NLDEV_ATTR_PORT_INDEX, *port);
  return payload;
}

core::Result<Device> parse_device(Bytes payload) {
  Device device;
  std::optional<std::uint32_t> index;
  const bool whole = for_each_attr(payload, [&](const Attr& attr) {
    if (attr.type == RDMA_NLDEV_ATTR_DEV_INDEX) index = attr.number<std::uint32_t>();
    if (attr.type == RDMA_NLDEV_ATTR_DEV_NAME) device.name = attr.text();
    if (attr.type == RDMA_NLDEV_ATTR_DEV_PROTOCOL) device.protocol = attr.text();
  });
  if (!whole || !index || device.name.empty()) return core::parse_error();
  device.index = *index;
  return device;
}

core::Result<Port> parse_port(Bytes payload) {
  Port port;
  const bool whole = for_each_attr(payload, [&](const Attr& attr) {
    if (attr.type == RDMA_NLDEV_ATTR_PORT_STATE) port.state = attr.number<std::uint8_t>();
    if (attr.type == RDMA_NLDEV_ATTR_PORT_PHYS_STATE) port.physical_state = attr.number<std::uint8_t>();
    if (attr.type == RDMA_NLDEV_ATTR_LID) port.lid = attr.number<std::uint32_t>();
    if (attr.type == RDMA_NLDEV_ATTR_SM_LID) port.sm_lid = attr.number<std::uint32_t>();
    if (attr.type == RDMA_NLDEV_ATTR_NDEV_NAME) port.netdev = attr.text();
  });
  if (!whole) return core::parse_error();
  return port;
}

core::Result<void> parse_counters(Bytes payload, const OnCounter& on_counter) {
  return for_each_entry(payload, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY,
                        [&](Bytes entry) { return parse_entry(entry, on_counter); });
}

core::Result<bool> parse_monitor_support(Bytes payload) {
  bool supported = false;
  const bool whole = for_each_attr(payload, [&](const Attr& attr) {
    if (attr.type == kAttrMonitorMode) supported = attr.number<std::uint8_t>().value_or(0) != 0;
  });
  if (!whole) return core::parse_error();
  return supported;
}

core::Result<std::optional<bool>> parse_shared_namespaces(Bytes payload) {
  std::optional<bool> shared;
  const bool whole = for_each_attr(payload, [&](const Attr& attr) {
    if (attr.type != RDMA_NLDEV_SYS_ATTR_NETNS_MODE) return;
    if (const auto mode = attr.number<std::uint8_t>()) shared = *mode != 0;
  });
  if (!whole) return core::parse_error();
  return shared;
}

core::Result<std::size_t> parse_monitor(Bytes datagram) {
  std::size_t events = 0;
  bool complete = true;
  const bool whole = for_each_message(datagram, [&](const nlmsghdr& header, Bytes payload) {
    if (header.nlmsg_type != type_of(kCommandMonitor)) return;
    std::optional<std::uint8_t> event;
    complete = for_each_attr(payload,
                             [&](const Attr& attr) {
                               if (attr.type == kAttrEventType) event = attr.number<std::uint8_t>();
                             }) &&
               complete && event;
    ++events;
  });
  if (!whole || !complete) return core::parse_error();
  return events;
}

}  // namespace rdma_exporter::host::nldev
