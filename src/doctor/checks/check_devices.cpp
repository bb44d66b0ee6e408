// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Checks across the devices of a host: adapters without a device, and differences between cards of one model.
#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "doctor/checks/checks.h"
#include "doctor/judge.h"
#include "facts/facts.h"

namespace rdma_exporter::doctor {
namespace {

void check_adapters(const SystemFacts& system, const DeviceRefs& devices, const Judge& judge) {
  std::vector<std::string> idle;
  std::vector<std::string> unbound;
  for (const AdapterFacts& adapter : system.adapters) {
    if (!adapter.for_rdma) continue;
    if (adapter.driver.empty()) unbound.push_back(adapter.address);
    // If it is passed through to a virtual machine or a program, its device is there.
    if (!adapter.driver.empty() && !adapter.has_device && !facts::is_passed_through(adapter.driver))
      idle.push_back(adapter.address + " (" + adapter.driver + ")");
  }
  if (!idle.empty()) {
    judge.add_finding(check::device_present, Verdict::warning,
                      "adapters without an RDMA device: " + listed(idle));
  } else if (devices.empty()) {
    judge.add_finding(check::device_present, Verdict::warning, "no RDMA device");
  } else {
    judge.ok(check::device_present, fmt::format("RDMA devices: {}", devices.size()));
  }
  if (!unbound.empty()) {
    judge.add_finding(check::driver_bound, Verdict::critical,
                      "adapters without a driver: " + listed(unbound));
  } else if (!system.adapters.empty()) {
    judge.ok(check::driver_bound, fmt::format("adapters: {}", system.adapters.size()));
  }
}

void check_software(const DeviceRefs& devices, Findings& out) {
  const bool hardware = std::any_of(devices.begin(), devices.end(),
                                    [](const DeviceFacts& device) { return !device.is_software(); });
  for (const DeviceFacts& device : devices) {
    if (!device.is_software()) continue;
    Judge(out, of_device(device))
        .add_finding(
            check::software_roce, hardware ? Verdict::warning : Verdict::ok,
            device.driver + (hardware ? " next to hardware devices" : ", and there is no hardware device"));
  }
}

// A port and its device.
struct Member {
  const DeviceFacts* device;
  const PortFacts* port;
};

// Ports of the same model of card; a model is known by its board_id.
std::map<std::string, std::vector<Member>> models(const DeviceRefs& devices) {
  std::map<std::string, std::vector<Member>> groups;
  for (const DeviceFacts& device : devices)
    for (const PortFacts& port : device.ports)
      if (!device.board_id.empty()) groups[device.board_id].push_back({&device, &port});
  return groups;
}

void check_firmware(const DeviceRefs& devices, Findings& out) {
  std::map<std::string, std::set<std::string>> versions;
  for (const DeviceFacts& device : devices)
    if (!device.board_id.empty() && !device.firmware.empty())
      versions[device.board_id].insert(device.firmware);
  for (const DeviceFacts& device : devices) {
    const auto known = versions.find(device.board_id);
    if (known == versions.end() || device.firmware.empty()) continue;
    const std::vector<std::string> all(known->second.begin(), known->second.end());
    Judge(out, of_device(device))
        .add_finding(check::firmware, all.size() > 1 ? Verdict::warning : Verdict::ok,
                     fmt::format("{}; firmware of {} on this host: {}", device.firmware, device.board_id,
                                 listed(all)));
  }
}

void check_link_layers(const std::vector<Member>& ports, Findings& out) {
  std::set<std::string> layers;
  for (const Member& member : ports) layers.insert(member.port->link_layer);
  if (ports.size() < 2) return;
  for (const Member& member : ports)
    Judge(out, of_port(*member.device, *member.port))
        .add_finding(check::link_layer, layers.size() > 1 ? Verdict::warning : Verdict::ok,
                     fmt::format("{}; ports of {}: {}", member.port->link_layer, member.device->board_id,
                                 listed({layers.begin(), layers.end()})));
}

// Whether ethtool reported what the port's interface supports: then a comparison with other ports is not
// needed.
bool speed_is_judged(const Member& member) {
  return std::any_of(member.device->netdevs.begin(), member.device->netdevs.end(),
                     [&](const NetdevFacts& netdev) {
                       return netdev.port == member.port->number && netdev.fastest_mode &&
                              *netdev.fastest_mode && netdev.speed && *netdev.speed;
                     });
}

// Compares `value` among the active ports of one model. A port that is the only one of its model is not
// compared.
template <typename T>
void compare(const Check& check, const std::vector<Member>& ports,
             const std::function<std::optional<T>(const Member&)>& value,
             const std::function<std::string(T)>& text, Findings& out) {
  std::optional<T> best;
  std::size_t known = 0;
  for (const Member& member : ports) {
    if (!value(member)) continue;
    ++known;
    best = std::max(best.value_or(T{}), *value(member));
  }
  for (const Member& member : ports) {
    const auto own = value(member);
    if (!own) continue;
    const Judge judge(out, of_port(*member.device, *member.port));
    if (known < 2) {
      judge.unknown(check,
                    text(*own) + "; no other active port of " + member.device->board_id + " to compare with");
    } else {
      judge.add_finding(
          check, *own < *best ? Verdict::warning : Verdict::ok,
          fmt::format("{}; the best port of {} has {}", text(*own), member.device->board_id, text(*best)));
    }
  }
}

void compare_ports(const std::vector<Member>& ports, Findings& out) {
  compare<double>(
      check::link_speed, ports,
      [](const Member& member) -> std::optional<double> {
        if (!is_active(*member.port) || !member.port->rate || speed_is_judged(member)) return std::nullopt;
        return *member.port->rate;
      },
      gigabits, out);
  compare<std::uint32_t>(
      check::link_width, ports,
      [](const Member& member) -> std::optional<std::uint32_t> {
        const bool infiniband = member.port->link_layer == "InfiniBand";
        if (!infiniband || !is_active(*member.port) || !member.port->lanes) return std::nullopt;
        return *member.port->lanes;
      },
      [](std::uint32_t lanes) { return fmt::format("{} lanes", lanes); }, out);
}

}  // namespace

void check_devices(const SystemFacts& system, const DeviceRefs& devices, Findings& out) {
  check_adapters(system, devices, Judge(out, {}));
  check_software(devices, out);
  check_firmware(devices, out);
  for (const auto& model : models(devices)) {
    check_link_layers(model.second, out);
    compare_ports(model.second, out);
  }
}

}  // namespace rdma_exporter::doctor
