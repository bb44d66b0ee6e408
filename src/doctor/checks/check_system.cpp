// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Checks of the kernel and of settings of the whole host.
#include <fmt/core.h>

#include <algorithm>

#include "doctor/checks/checks.h"
#include "doctor/judge.h"
#include "host/kernel_release.h"

namespace rdma_exporter::doctor {
namespace {

constexpr std::uint32_t kRoceUdpPort = 4791;
constexpr std::uint64_t kMebibyte = 1024 * 1024;

void check_kernel(const SystemFacts& system, const Judge& judge) {
  if (!system.kernel_release)
    return judge.unread(check::kernel_hazards, "the kernel release", system.kernel_release.error());
  const std::string& release = *system.kernel_release;
  const std::string version = system.kernel_version.value_or("");
  std::vector<std::string> hazards;
  if (system.out_of_tree_core || !host::resource_dumps_safe(release, version))
    hazards.emplace_back("resource dumps (use after free)");
  const std::string kernel = release + (system.out_of_tree_core ? ", ib_core not built with it" : "");
  if (hazards.empty()) return judge.ok(check::kernel_hazards, kernel);
  judge.add_finding(check::kernel_hazards, Verdict::warning,
                    kernel + " is not known to be safe for: " + listed(hazards));
}

void check_udp_port(const SystemFacts& system, const Judge& judge) {
  if (!system.local_ports)
    return judge.unread(check::udp_port, "ip_local_port_range", system.local_ports.error());
  const auto [first, last] = *system.local_ports;
  const bool inside = first <= kRoceUdpPort && kRoceUdpPort <= last;
  const bool reserved = system.reserved_ports && system.reserved_ports->contains(kRoceUdpPort);
  judge.add_finding(check::udp_port, inside && !reserved ? Verdict::warning : Verdict::ok,
                    fmt::format("local ports {} to {}{}", first, last, reserved ? ", 4791 is reserved" : ""));
}

// Drivers whose ports all have counters.
bool should_have_counters(const DeviceFacts& device) {
  switch (device.family) {
    case host::Driver::unknown:
    case host::Driver::siw:
    case host::Driver::usnic:
    case host::Driver::cxgb4:
      return false;
    default:
      return true;
  }
}

void check_namespace(const SystemFacts& system, const DeviceRefs& devices, Findings& out) {
  std::string mode = "the mode of RDMA namespaces is unknown";
  if (system.shared_namespaces && *system.shared_namespaces)
    mode = **system.shared_namespaces ? "shared: every network namespace sees all devices"
                                      : "exclusive: a device belongs to one network namespace";
  for (const DeviceFacts& device : devices) {
    if (!should_have_counters(device) || device.ports.empty()) continue;
    const bool counters = std::any_of(device.ports.begin(), device.ports.end(),
                                      [](const PortFacts& port) { return port.has_counters; });
    Judge(out, of_device(device))
        .add_finding(check::netns, counters ? Verdict::ok : Verdict::warning,
                     counters ? mode : "no port has counters; " + mode);
  }
}

void check_locked_memory(const SystemFacts& system, const Judge& judge) {
  if (!system.locked_memory)
    return judge.unread(check::locked_memory, "the limit", system.locked_memory.error());
  if (!*system.locked_memory) return judge.ok(check::locked_memory, "unlimited");
  judge.add_finding(check::locked_memory, Verdict::warning,
                    fmt::format("{:.3g} MiB, for this process", static_cast<double>(**system.locked_memory) /
                                                                    static_cast<double>(kMebibyte)));
}

void check_device_files(const SystemFacts& system, const Judge& judge) {
  if (!system.nodes) {
    if (!core::is_errno(system.nodes.error(), ENOENT))
      return judge.unread(check::device_files, "/dev/infiniband", system.nodes.error());
    return judge.add_finding(check::device_files, Verdict::critical, "/dev/infiniband does not exist");
  }
  std::vector<std::string> for_root;
  std::vector<std::string> for_group;
  bool verbs = false;
  for (const host::DeviceNode& node : *system.nodes) {
    verbs = verbs || node.name.starts_with("uverbs");
    if (!node.for_all) (node.for_group ? for_group : for_root).push_back(node.name);
  }
  if (!verbs)
    return judge.add_finding(check::device_files, Verdict::critical, "/dev/infiniband has no uverbs file");
  if (!for_root.empty())
    return judge.add_finding(check::device_files, Verdict::warning,
                             "accessible to root only: " + listed(for_root));
  judge.ok(check::device_files, for_group.empty() ? "accessible to everybody"
                                                  : "accessible to members of a group: " + listed(for_group));
}

}  // namespace

void check_system(const SystemFacts& system, const DeviceRefs& devices, Findings& out) {
  const Judge judge(out, {});
  check_namespace(system, devices, out);
  check_udp_port(system, judge);
  check_kernel(system, judge);
  check_locked_memory(system, judge);
  if (!devices.empty()) check_device_files(system, judge);
}

}  // namespace rdma_exporter::doctor
