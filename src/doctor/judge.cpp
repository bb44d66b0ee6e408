// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "doctor/judge.h"

#include <fmt/core.h>

#include <array>

#include "host/events/port_states.h"

namespace rdma_exporter::doctor {

std::string gigabits(double bytes_per_second) {
  return fmt::format("{:.4g} Gb/s", bytes_per_second * 8 / 1e9);
}

std::string_view port_state_name(std::uint32_t state) {
  constexpr std::array<std::string_view, 6> kNames{"NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER"};
  return state < kNames.size() ? kNames[state] : "UNKNOWN";
}

std::string listed(const std::vector<std::string>& names, std::size_t at_most) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < at_most; ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > at_most) text += fmt::format(" and {} more", names.size() - at_most);
  return text.empty() ? "none" : text;
}

bool is_roce(const DeviceFacts& device, const PortFacts& port) {
  if (port.link_layer != "Ethernet") return false;
  return device.protocol.empty() || device.protocol == "roce";
}

bool is_active(const PortFacts& port) { return port.state && *port.state == host::kPortActive; }

Subject of_device(const DeviceFacts& device) { return {device.name, "", ""}; }
Subject of_port(const DeviceFacts& device, const PortFacts& port) {
  return {device.name, std::to_string(port.number), ""};
}
Subject of_netdev(const DeviceFacts& device, const NetdevFacts& netdev) {
  return {device.name, std::to_string(netdev.port), netdev.name};
}

}  // namespace rdma_exporter::doctor
