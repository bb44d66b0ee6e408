// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/netlink/devlink.h"

#include <linux/devlink.h>

#include <algorithm>

#include "host/netlink/generic_netlink.h"
#include "host/netlink/netlink_attr.h"

namespace rdma_exporter::host::devlink {
namespace {

std::vector<std::byte> request(std::uint8_t command, const Handle& handle) {
  std::vector<std::byte> payload = generic_netlink::message(command, DEVLINK_GENL_VERSION);
  append_text(payload, DEVLINK_ATTR_BUS_NAME, handle.bus);
  append_text(payload, DEVLINK_ATTR_DEV_NAME, handle.device);
  return payload;
}

// Visits the attributes of an answer with that command. False when it is none, or not whole, or when an
// attribute's own parts are not.
template <typename OnAttr>
bool for_each_attr_of(std::uint8_t command, Bytes payload, OnAttr&& on_attr) {
  const auto attributes = generic_netlink::attributes(payload, command);
  if (!attributes) return false;
  bool parts_whole = true;
  const bool whole =
      for_each_attr(*attributes, [&](const Attr& attr) { parts_whole = on_attr(attr) && parts_whole; });
  return whole && parts_whole;
}

void take_handle(const Attr& attr, Handle& handle) {
  if (attr.type == DEVLINK_ATTR_BUS_NAME) handle.bus = attr.text();
  if (attr.type == DEVLINK_ATTR_DEV_NAME) handle.device = attr.text();
}

bool parse_reporter_nest(Bytes nest, Reporter& reporter) {
  return for_each_attr(nest, [&](const Attr& attr) {
    if (attr.type == DEVLINK_ATTR_HEALTH_REPORTER_NAME) reporter.name = attr.text();
    if (attr.type == DEVLINK_ATTR_HEALTH_REPORTER_STATE)
      reporter.in_error = attr.number<std::uint8_t>().value_or(std::uint8_t{0}) != 0;
    if (attr.type == DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT) reporter.errors = attr.number<std::uint64_t>();
    if (attr.type == DEVLINK_ATTR_HEALTH_REPORTER_RECOVER_COUNT)
      reporter.recoveries = attr.number<std::uint64_t>();
    if (attr.type == DEVLINK_ATTR_HEALTH_REPORTER_DUMP_TS_NS)
      reporter.dump_time_ns = attr.number<std::uint64_t>();
  });
}

// enum devlink_port_flavour.
std::string_view flavour_name(std::uint16_t flavour) {
  switch (flavour) {
    case DEVLINK_PORT_FLAVOUR_PHYSICAL:
      return "physical";
    case DEVLINK_PORT_FLAVOUR_CPU:
      return "cpu";
    case DEVLINK_PORT_FLAVOUR_DSA:
      return "dsa";
    case DEVLINK_PORT_FLAVOUR_PCI_PF:
      return "pci_pf";
    case DEVLINK_PORT_FLAVOUR_PCI_VF:
      return "pci_vf";
    case DEVLINK_PORT_FLAVOUR_VIRTUAL:
      return "virtual";
    case DEVLINK_PORT_FLAVOUR_UNUSED:
      return "unused";
    case DEVLINK_PORT_FLAVOUR_PCI_SF:
      return "pci_sf";
    default:
      return "other";
  }
}

// Adds the name and value of one nest to the member of that component.
bool take_version(Bytes nest, std::string Version::*member, std::vector<Version>& versions) {
  std::string_view name;
  std::string_view value;
  const bool whole = for_each_attr(nest, [&](const Attr& attr) {
    if (attr.type == DEVLINK_ATTR_INFO_VERSION_NAME) name = attr.text();
    if (attr.type == DEVLINK_ATTR_INFO_VERSION_VALUE) value = attr.text();
  });
  if (!whole || name.empty()) return false;
  auto known = std::find_if(versions.begin(), versions.end(),
                            [&](const Version& version) { return version.component == name; });
  if (known == versions.end()) known = versions.insert(known, Version{std::string(name), {}, {}});
  (*known).*member = value;
  return true;
}

bool is_serial(const Attr& attr) {
  return attr.type == DEVLINK_ATTR_INFO_SERIAL_NUMBER || attr.type == DEVLINK_ATTR_INFO_BOARD_SERIAL_NUMBER;
}

}  // namespace

std::optional<Handle> find_handle(HostFs& sysfs, const std::string& path) {
  const std::string device = sysfs.canonical(path).value_or("");
  const std::string bus = device.empty() ? "" : sysfs.link_name(device + "/subsystem").value_or("");
  if (bus.empty()) return std::nullopt;
  return Handle{bus, device.substr(device.rfind('/') + 1)};
}

std::vector<std::byte> reporters_request(const Handle& handle) {
  return request(DEVLINK_CMD_HEALTH_REPORTER_GET, handle);
}
std::vector<std::byte> ports_request(const Handle& handle) { return request(DEVLINK_CMD_PORT_GET, handle); }
std::vector<std::byte> info_request(const Handle& handle) { return request(DEVLINK_CMD_INFO_GET, handle); }

core::Result<Reporter> parse_reporter(Bytes payload) {
  Reporter reporter;
  const bool whole = for_each_attr_of(DEVLINK_CMD_HEALTH_REPORTER_GET, payload, [&](const Attr& attr) {
    take_handle(attr, reporter.handle);
    if (attr.type == DEVLINK_ATTR_PORT_INDEX) reporter.port_index = attr.number<std::uint32_t>();
    return attr.type != DEVLINK_ATTR_HEALTH_REPORTER || parse_reporter_nest(attr.data, reporter);
  });
  if (!whole || reporter.name.empty()) return core::parse_error();
  return reporter;
}

core::Result<Port> parse_port(Bytes payload) {
  Port port;
  std::optional<std::uint32_t> index;
  // The answer's command is not the request's, and in a dump of Linux 6.1 that of an instance.
  const bool of_instance = generic_netlink::attributes(payload, DEVLINK_CMD_NEW).has_value();
  const std::uint8_t command = of_instance ? DEVLINK_CMD_NEW : DEVLINK_CMD_PORT_NEW;
  const bool whole = for_each_attr_of(command, payload, [&](const Attr& attr) {
    take_handle(attr, port.handle);
    if (attr.type == DEVLINK_ATTR_PORT_INDEX) index = attr.number<std::uint32_t>();
    if (attr.type == DEVLINK_ATTR_PORT_NETDEV_NAME) port.netdev = attr.text();
    if (attr.type == DEVLINK_ATTR_PORT_NUMBER) port.number = attr.number<std::uint32_t>();
    if (attr.type == DEVLINK_ATTR_PORT_FLAVOUR)
      port.flavour = flavour_name(attr.number<std::uint16_t>().value_or(std::uint16_t{0xffff}));
    return true;
  });
  if (!whole || !index) return core::parse_error();
  port.index = *index;
  return port;
}

core::Result<std::vector<Version>> parse_info(Bytes payload) {
  std::vector<Version> versions;
  const bool whole = for_each_attr_of(DEVLINK_CMD_INFO_GET, payload, [&](const Attr& attr) {
    if (attr.type == DEVLINK_ATTR_INFO_VERSION_RUNNING)
      return take_version(attr.data, &Version::running, versions);
    if (attr.type == DEVLINK_ATTR_INFO_VERSION_STORED)
      return take_version(attr.data, &Version::stored, versions);
    return true;
  });
  if (!whole) return core::parse_error();
  return versions;
}

std::vector<std::byte> without_serials(Bytes payload) {
  std::vector<std::byte> copy(payload.begin(), payload.end());
  bool named = false;  // other families use the same numbers: an answer of devlink begins with its handle
  (void)for_each_attr_of(DEVLINK_CMD_INFO_GET, copy, [&](const Attr& attr) {
    if (attr.type == DEVLINK_ATTR_BUS_NAME) named = !attr.text().empty();
    if (!named || !is_serial(attr)) return true;
    const auto at = attr.data.data() - copy.data();
    std::fill_n(copy.begin() + at, attr.data.size(), std::byte{0});
    return true;
  });
  return copy;
}

}  // namespace rdma_exporter::host::devlink
