// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// What keeps RoCE from losing packets: PFC, the mapping of its traffic to the lossless priority, ECN.
#include <fmt/core.h>

#include <algorithm>

#include "doctor/checks/checks.h"
#include "doctor/judge.h"

namespace rdma_exporter::doctor {
namespace {

namespace dcb = host::dcb;
using host::NetdevRole;

bool has_wire(const NetdevFacts& netdev) { return !netdev.is_software && netdev.role != NetdevRole::bond; }

// The interfaces that have the port's wire; for a virtual function, those of its physical function.
std::vector<const NetdevFacts*> wires(const DeviceFacts& device, const PortFacts& port) {
  std::vector<const NetdevFacts*> physical;
  std::vector<const NetdevFacts*> own;
  for (const NetdevFacts& netdev : device.netdevs) {
    if (netdev.port != port.number || !has_wire(netdev)) continue;
    (netdev.role == NetdevRole::physical ? physical : own).push_back(&netdev);
  }
  return physical.empty() ? own : physical;
}

std::vector<std::size_t> lossless(const dcb::Ieee& dcb) {
  std::vector<std::size_t> priorities;
  for (std::size_t priority = 0; dcb.pfc && priority < dcb::kPriorities; ++priority)
    if (((dcb.pfc->enabled >> priority) & 1) != 0) priorities.push_back(priority);
  return priorities;
}

std::string numbers(const std::vector<std::size_t>& values) {
  std::vector<std::string> texts;
  for (const std::size_t value : values) texts.push_back(std::to_string(value));
  return listed(texts, dcb::kPriorities);
}

bool is_lossless(const dcb::Ieee& dcb, std::size_t priority) {
  return dcb.pfc && ((dcb.pfc->enabled >> priority) & 1) != 0;
}

// As mlx5 (en_dcbnl.c), ice and hns3 do: they trust DSCP while the APP table has a DSCP entry.
bool trusts_dscp(const dcb::Ieee& dcb) {
  return std::any_of(dcb.apps.begin(), dcb.apps.end(),
                     [](const dcb::App& app) { return app.selector == dcb::kSelectorDscp; });
}

// A DSCP without an entry maps to 0, the drivers' default.
std::size_t priority_of_dscp(const dcb::Ieee& dcb, std::uint32_t dscp) {
  std::size_t priority = 0;
  for (const dcb::App& app : dcb.apps)
    if (app.selector == dcb::kSelectorDscp && app.protocol == dscp) priority = app.priority;
  return priority;
}

void check_pfc(const dcb::Ieee& dcb, const Judge& judge) {
  if (!dcb.pfc) return judge.unknown(check::pfc, "the driver does not report PFC");
  const auto priorities = lossless(dcb);
  judge.add_finding(check::pfc, priorities.size() == 1 ? Verdict::ok : Verdict::warning,
                    "lossless priorities: " + numbers(priorities));
}

void check_pause(const NetdevFacts& netdev, const Judge& judge) {
  if (!netdev.pause) {
    if (!is_absent(netdev.pause.error()))
      judge.unread(check::global_pause, "pause settings", netdev.pause.error());
    return;
  }
  const bool rx = netdev.pause->rx.value_or(false);
  const bool tx = netdev.pause->tx.value_or(false);
  const auto word = [](bool on) { return on ? "on" : "off"; };
  const bool with_pfc = netdev.dcb && !lossless(**netdev.dcb).empty();
  const std::string evidence = fmt::format("rx {}, tx {}", word(rx), word(tx));
  if (!rx && !tx) return judge.ok(check::global_pause, evidence);
  judge.add_finding(check::global_pause, with_pfc ? Verdict::critical : Verdict::warning,
                    with_pfc ? evidence + ", and PFC is on as well" : evidence);
}

// The traffic class of RoCE packets is known: checks whether it leads to a lossless priority.
void check_known_class(const dcb::Ieee& dcb, const TrafficClass& traffic, const Judge& judge) {
  const std::uint32_t dscp = traffic.value >> 2U;
  const std::size_t priority = priority_of_dscp(dcb, dscp);
  judge.add_finding(check::roce_priority, is_lossless(dcb, priority) ? Verdict::ok : Verdict::critical,
                    fmt::format("DSCP {} ({}) maps to priority {}, lossless: {}", dscp, traffic.set_by,
                                priority, numbers(lossless(dcb))));
}

void check_priority_by_dscp(const dcb::Ieee& dcb, const PortFacts& port, const Judge& judge) {
  if (port.traffic_class) return check_known_class(dcb, *port.traffic_class, judge);
  std::vector<std::string> ways;
  for (const dcb::App& app : dcb.apps)
    if (app.selector == dcb::kSelectorDscp && is_lossless(dcb, app.priority))
      ways.push_back(std::to_string(app.protocol));
  judge.add_finding(
      check::roce_priority, ways.empty() ? Verdict::warning : Verdict::ok,
      fmt::format("DSCP values that map to a lossless priority: {}; applications choose their own",
                  listed(ways, 8)));
}

// With PCP only tagged packets have a priority. VLANs are not among a device's interfaces; the interface
// below them is.
void check_priority_by_pcp(const DeviceFacts& device, const PortFacts& port, const Judge& judge) {
  if (!port.gids) return judge.unread(check::roce_priority, "the GID table", port.gids.error());
  const bool tagged =
      std::any_of(port.gid_netdevs.begin(), port.gid_netdevs.end(), [&](const std::string& netdev) {
        return std::none_of(device.netdevs.begin(), device.netdevs.end(),
                            [&](const NetdevFacts& known) { return known.name == netdev; });
      });
  judge.add_finding(
      check::roce_priority, tagged ? Verdict::ok : Verdict::warning,
      tagged
          ? "priorities come from PCP (no DSCP entry in the APP table), and there are GIDs on VLAN interfaces"
          : "priorities come from PCP (no DSCP entry in the APP table), but no GID is on a VLAN interface: "
            "packets are untagged and have priority 0");
}

void check_priority(const DeviceFacts& device, const PortFacts& port, const dcb::Ieee& dcb,
                    const Judge& judge) {
  if (lossless(dcb).empty()) return;  // reported by the check pfc
  if (trusts_dscp(dcb)) return check_priority_by_dscp(dcb, port, judge);
  if (is_lossless(dcb, 0))
    return judge.ok(check::roce_priority, "untagged packets have priority 0, which is lossless");
  check_priority_by_pcp(device, port, judge);
}

// With PCP its packets go where all others of the port go. As in the probe, a preset of 0 is none.
void check_probe(const dcb::Ieee& dcb, const PortFacts& port, const ProbeFacts& probe, const Judge& judge) {
  if (lossless(dcb).empty() || !trusts_dscp(dcb)) return;
  const bool is_preset = port.traffic_class && port.traffic_class->value != 0;
  const std::uint32_t preset = is_preset ? port.traffic_class->value : probe.otherwise;
  const std::uint32_t dscp = probe.traffic_class.value_or(preset) >> 2U;
  const std::size_t priority = priority_of_dscp(dcb, dscp);
  judge.add_finding(
      check::probe_priority, is_lossless(dcb, priority) ? Verdict::ok : Verdict::warning,
      fmt::format("DSCP {} maps to priority {}, lossless: {}", dscp, priority, numbers(lossless(dcb))));
}

void check_class(const dcb::Ieee& dcb, const Judge& judge) {
  if (!dcb.ets || lossless(dcb).empty()) return;
  std::vector<std::string> shared;
  for (const std::size_t priority : lossless(dcb))
    for (std::size_t other = 0; other < dcb::kPriorities; ++other)
      if (!is_lossless(dcb, other) && dcb.ets->priority_class[other] == dcb.ets->priority_class[priority])
        shared.push_back(fmt::format("{} with {}", priority, other));
  judge.add_finding(
      check::traffic_class, shared.empty() ? Verdict::ok : Verdict::warning,
      shared.empty() ? "its own traffic class" : "shared priorities: " + listed(shared, dcb::kPriorities));
}

void check_ecn(const NetdevFacts& netdev, const Judge& judge) {
  if (!netdev.ecn) {
    if (!is_absent(netdev.ecn.error())) return judge.unread(check::ecn, "ecn", netdev.ecn.error());
    if (netdev.driver == "mlx5_core")
      judge.unknown(check::ecn,
                    "the kernel's own driver does not show whether DCQCN is on; do CNPs rise under load?");
    return;
  }
  const auto priorities = netdev.dcb ? lossless(**netdev.dcb) : std::vector<std::size_t>{};
  std::vector<std::string> off;
  for (const EcnFacts& ecn : *netdev.ecn) {
    const bool wanted = std::find(priorities.begin(), priorities.end(), ecn.priority) != priorities.end();
    if (wanted && !ecn.enabled) off.push_back(fmt::format("{} of priority {}", ecn.role, ecn.priority));
  }
  if (priorities.empty()) return judge.unknown(check::ecn, "no lossless priority is known");
  judge.add_finding(check::ecn, off.empty() ? Verdict::ok : Verdict::warning,
                    off.empty() ? "on for priority " + numbers(priorities) : "off: " + listed(off));
}

void check_wire(const DeviceFacts& device, const PortFacts& port, const NetdevFacts& netdev,
                const std::optional<ProbeFacts>& probe, Findings& out) {
  const Judge judge(out, of_netdev(device, netdev));
  if (netdev.dcb) {
    check_pfc(**netdev.dcb, judge);
    check_priority(device, port, **netdev.dcb, judge);
    if (probe) check_probe(**netdev.dcb, port, *probe, judge);
    check_class(**netdev.dcb, judge);
  } else if (is_absent(netdev.dcb.error())) {
    judge.unknown(check::pfc, "the driver does not support DCB");
  } else {
    judge.unread(check::pfc, "DCB", netdev.dcb.error());
  }
  check_pause(netdev, judge);
  check_ecn(netdev, judge);
}

}  // namespace

void check_lossless(const DeviceFacts& device, const std::optional<ProbeFacts>& probe, Findings& out) {
  if (device.is_software()) return;
  for (const PortFacts& port : device.ports)
    if (is_roce(device, port))
      for (const NetdevFacts* netdev : wires(device, port)) check_wire(device, port, *netdev, probe, out);
}

}  // namespace rdma_exporter::doctor
