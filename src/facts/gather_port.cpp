// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include <chrono>

#include "facts/gather_parts.h"
#include "host/events/port_states.h"

namespace rdma_exporter::facts {
namespace {

// Nothing where a part of the table could not be read.
Fact<host::GidList> whole_table(const PortGids& read) {
  for (const core::Error& error : read.slot_errors)
    if (!core::is_errno(error, EINVAL) && !core::is_errno(error, ENOENT)) return tl::unexpected(error);
  return read.gids;
}

bool is_active(const PortFacts& port) { return port.state && *port.state == host::kPortActive; }

void take_link(const PortLink& link, const std::string& path, PortFacts& port) {
  port.state = link.state;
  port.physical_state = link.physical_state;
  if (!is_active(port)) return;
  auto rate = link.rate;
  if (!rate) rate.error().context = path + "/rate";
  port.rate = rate.map([](const core::LinkRate& read) { return read.bytes_per_second; });
  port.lanes = rate.map([](const core::LinkRate& read) { return read.lanes; });
}

// Reading it opens the verbs device. With all event sources at work, what changes it is noted.
constexpr std::chrono::minutes kMtuAge{5};

}  // namespace

std::optional<TrafficClass> traffic_class(const PortClasses& classes) {
  if (classes.forced && *classes.forced) return TrafficClass{**classes.forced, "forced by the driver"};
  if (classes.preset && *classes.preset)
    return TrafficClass{static_cast<std::uint32_t>(**classes.preset & 0xffU), "default of rdma_cm"};
  return std::nullopt;
}

std::vector<PortFacts> gather_ports(host::Host& host, const std::shared_ptr<const host::Device>& device,
                                    const DeviceMemory& memory, const Wanted& wanted) {
  std::vector<PortFacts> ports;
  for (const std::uint32_t number : device->ports) {
    PortFacts& port = ports.emplace_back();
    const std::string path = device->port_path(number);
    PortCache& cache = memory.cache->port(number);
    port.number = number;
    take_link(*cache.port_link(wanted), path, port);
    port.link_layer = cache.link_layer(wanted).value_or("");
    if (is_active(port)) port.mtu = *cache.mtu(host.changes->complete() ? wanted.or_older(kMtuAge) : wanted);
    const auto gids = cache.gids(wanted);
    port.gids = whole_table(*gids);
    port.gid_netdevs = gids->netdevs;
    port.traffic_class = traffic_class(*cache.classes(wanted));
    port.has_counters = host.sysfs->exists(path + "/hw_counters") || host.sysfs->exists(path + "/counters");
  }
  return ports;
}

}  // namespace rdma_exporter::facts
