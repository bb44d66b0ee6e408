// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include <array>

#include "facts/gather_parts.h"
#include "host/events/port_states.h"
#include "host/topology/inventory.h"

namespace rdma_exporter::facts {
namespace {

core::Result<std::optional<std::uint64_t>> counter(std::string_view text) {
  return core::parse_counter(text);
}

Fact<std::vector<GidFacts>> read_gid_facts(host::HostFs& sysfs, const std::string& path,
                                           host::GidTable& table) {
  std::optional<core::Error> failed;
  // EINVAL and ENOENT: an empty slot.
  const auto gids = table.read(sysfs, [&](const core::Error& error) {
    if (!core::is_errno(error, EINVAL) && !core::is_errno(error, ENOENT)) failed = error;
  });
  if (!gids) return tl::unexpected(gids.error());
  if (failed) return tl::unexpected(*failed);
  std::vector<GidFacts> facts;
  for (const host::Gid& gid : *gids)
    facts.push_back({gid, sysfs.read(path + "/gid_attrs/ndevs/" + gid.slot).value_or("")});
  return facts;
}

void read_rate(host::PortStates& states, std::uint64_t look, const std::string& path, PortFacts& port) {
  std::array<char, 128> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by read()
  const auto text = states.read(port.number, look, "rate", buffer);
  auto rate = text ? core::parse_rate(*text) : tl::unexpected(text.error());
  if (!rate) rate.error().context = path + "/rate";
  if (rate) {
    port.rate = rate->bytes_per_second;
    port.lanes = rate->lanes;
  } else {
    port.rate = port.lanes = tl::unexpected(rate.error());
  }
}

Fact<host::PortMtu> read_mtu(host::Host& host, const host::Device& device, std::uint32_t port) {
  if (!host.verbs) return no_kernel("verbs device");
  return host.verbs->port_mtu(device.name, port);
}

}  // namespace

std::optional<TrafficClass> read_traffic_class(host::HostFs& sysfs, const std::string& device,
                                               std::uint32_t port) {
  const std::string number = std::to_string(port);
  const std::string forced = std::string(host::kDevices) + "/" + device + "/tc/" + number + "/traffic_class";
  if (const auto value = read_fact(sysfs, forced, core::parse_global_traffic_class); value && *value)
    return TrafficClass{**value, "forced by the driver"};
  const std::string preset = "kernel/config/rdma_cm/" + device + "/ports/" + number + "/default_roce_tos";
  if (const auto value = read_fact(sysfs, preset, counter); value && *value)
    return TrafficClass{static_cast<std::uint32_t>(**value & 0xffU), "default of rdma_cm"};
  return std::nullopt;
}

std::vector<PortFacts> gather_ports(host::Host& host, const std::shared_ptr<const host::Device>& device,
                                    DeviceMemory& memory) {
  host::PortStates states(host, device);  // not kept, because these files are read only once a minute
  std::vector<PortFacts> ports;
  for (const std::uint32_t number : device->ports) {
    PortFacts& port = ports.emplace_back();
    const std::string path = device->port_path(number);
    port.number = number;
    const host::PortState state = states.get(number, memory.looks);
    port.state = state.state;
    port.physical_state = state.physical_state;
    port.link_layer = host.sysfs->read(path + "/link_layer").value_or("");
    if (port.state && *port.state == host::kPortActive) {
      read_rate(states, memory.looks, path, port);
      port.mtu = read_mtu(host, *device, number);
    }
    port.gids = read_gid_facts(*host.sysfs, path, memory.gids.try_emplace(number, path).first->second);
    port.traffic_class = read_traffic_class(*host.sysfs, device->name, number);
    port.has_counters = host.sysfs->exists(path + "/hw_counters") || host.sysfs->exists(path + "/counters");
  }
  return ports;
}

}  // namespace rdma_exporter::facts
