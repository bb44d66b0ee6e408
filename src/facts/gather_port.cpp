// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include <array>
#include <chrono>

#include "facts/gather_parts.h"
#include "host/events/port_states.h"

namespace rdma_exporter::facts {
namespace {

// Nothing where a part of the table could not be read.
Fact<std::vector<GidFacts>> whole_table(const PortGids& read) {
  for (const core::Error& error : read.slot_errors)
    if (!core::is_errno(error, EINVAL) && !core::is_errno(error, ENOENT)) return tl::unexpected(error);
  return read.gids;
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
  host::PortStates states(host, device);  // not kept, because these files are read only once a minute
  std::vector<PortFacts> ports;
  for (const std::uint32_t number : device->ports) {
    PortFacts& port = ports.emplace_back();
    const std::string path = device->port_path(number);
    PortCache& cache = memory.cache->port(number);
    port.number = number;
    const host::PortState state = states.get(number, memory.looks);
    port.state = state.state;
    port.physical_state = state.physical_state;
    port.link_layer = host.sysfs->read(path + "/link_layer").value_or("");
    if (port.state && *port.state == host::kPortActive) {
      read_rate(states, memory.looks, path, port);
      port.mtu = *cache.mtu(host.changes->complete() ? wanted.or_older(kMtuAge) : wanted);
    }
    port.gids = whole_table(*cache.gids(wanted));
    port.traffic_class = traffic_class(*cache.classes(wanted));
    port.has_counters = host.sysfs->exists(path + "/hw_counters") || host.sysfs->exists(path + "/counters");
  }
  return ports;
}

}  // namespace rdma_exporter::facts
