// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Checks of the state and MTU of a device's ports.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "doctor/checks/checks.h"
#include "doctor/judge.h"

namespace rdma_exporter::doctor {
namespace {

constexpr std::uint32_t kDown = 1;
constexpr std::uint32_t kArmed = 3;
constexpr std::uint32_t kPhysicallyDisabled = 3;

// Words of core/sysfs.c.
std::string_view physical_state_name(std::uint32_t state) {
  constexpr std::array<std::string_view, 8> kNames{
      "unknown",           "Sleep",   "Polling", "Disabled", "PortConfigurationTraining", "LinkUp",
      "LinkErrorRecovery", "Phy Test"};
  return state < kNames.size() ? kNames[state] : "unknown";
}

// Whether somebody has switched the port off.
std::string switched_off(const DeviceFacts& device, const PortFacts& port) {
  for (const NetdevFacts& netdev : device.netdevs)
    if (netdev.port == port.number && netdev.role == host::NetdevRole::port && netdev.admin_up &&
        !*netdev.admin_up)
      return netdev.name + " is set down";
  const bool disabled = port.physical_state && *port.physical_state == kPhysicallyDisabled;
  return disabled ? "the port is disabled" : "";
}

void check_state(const DeviceFacts& device, const PortFacts& port, const Judge& judge) {
  if (!port.state) return judge.unread(check::port_state, "the state", port.state.error());
  std::string evidence(port_state_name(*port.state));
  if (is_active(port)) return judge.ok(check::port_state, evidence);
  if (port.physical_state)
    evidence += fmt::format(", physically {}", physical_state_name(*port.physical_state));
  const std::string off = *port.state == kDown ? switched_off(device, port) : "";
  if (!off.empty()) evidence += ": " + off;
  const bool on_purpose = !off.empty() || *port.state == kArmed;
  judge.add_finding(check::port_state, on_purpose ? Verdict::warning : Verdict::critical, evidence);
}

void check_mtu(const PortFacts& port, const Judge& judge) {
  if (!port.mtu) {
    if (core::is_errno(port.mtu.error(), EOPNOTSUPP)) return;  // the driver has no verbs
    return judge.unread(check::rdma_mtu, "the RDMA MTU", port.mtu.error());
  }
  if (port.mtu->active == 0 || port.mtu->max == 0) return;  // the driver does not report it
  const bool whole = port.mtu->active >= port.mtu->max;
  judge.add_finding(check::rdma_mtu, whole ? Verdict::ok : Verdict::warning,
                    fmt::format("{} bytes, of at most {}", port.mtu->active, port.mtu->max));
}

}  // namespace

void check_ports(const DeviceFacts& device, Findings& out) {
  for (const PortFacts& port : device.ports) {
    const Judge judge(out, of_port(device, port));
    check_state(device, port, judge);
    if (is_active(port)) check_mtu(port, judge);
  }
}

}  // namespace rdma_exporter::doctor
