// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Checks of the adapter's place in the host: PCIe links, NUMA node, interrupts.
#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "doctor/checks/checks.h"
#include "doctor/judge.h"

namespace rdma_exporter::doctor {
namespace {

template <typename T>
std::optional<T> lesser(const std::optional<T>& one, const std::optional<T>& other) {
  if (!one || !other) return one ? one : other;
  return std::min(*one, *other);
}

std::string link_text(std::optional<double> speed, std::optional<std::uint32_t> width) {
  return fmt::format("{:g} GT/s x{}", speed.value_or(0) / 1e9, width.value_or(0));
}

bool is_known(const PcieLink& link) { return link.below.speed && link.below.width; }

// Bytes per second in one direction after the line code (8b/10b up to 5 GT/s, 128b/130b above), before packet
// headers.
double bandwidth(const PcieLink& link) {
  constexpr double kSecondGeneration = 5e9;
  const double code = *link.below.speed <= kSecondGeneration ? 8.0 / 10 : 128.0 / 130;
  return *link.below.speed * *link.below.width * code / 8;
}

std::optional<double> narrowest(const PciFacts& pci) {
  std::optional<double> least;
  for (const PcieLink& link : pci.links)
    if (is_known(link)) least = std::min(least.value_or(std::numeric_limits<double>::max()), bandwidth(link));
  return least;
}

std::optional<double> fastest_port(const DeviceFacts& device) {
  std::optional<double> rate;
  for (const PortFacts& port : device.ports)
    if (is_active(port) && port.rate) rate = std::max(rate.value_or(0), *port.rate);
  return rate;
}

// What a link lacks compared with what both of its ends support; empty if nothing.
std::string degraded(const PcieLink& link) {
  const auto other_end = link.above.value_or(PcieEnd{});
  const auto speed = lesser(link.below.max_speed, other_end.max_speed);
  const auto width = lesser(link.below.max_width, other_end.max_width);
  const bool slow = speed && link.below.speed && *link.below.speed < *speed;
  const bool narrow = width && link.below.width && *link.below.width < *width;
  if (!slow && !narrow) return "";
  return fmt::format("{}: {} of {}", link.below.address, link_text(link.below.speed, link.below.width),
                     link_text(speed, width));
}

void check_links(const DeviceFacts& device, const Judge& judge) {
  const PciFacts& pci = *device.pci;
  std::vector<std::string> bad;
  std::vector<std::string> all;
  for (const PcieLink& link : pci.links) {
    if (!is_known(link)) continue;
    all.push_back(fmt::format("{} at {}", link.below.address, link_text(link.below.speed, link.below.width)));
    if (std::string text = degraded(link); !text.empty()) bad.push_back(std::move(text));
  }
  if (all.empty()) return judge.unknown(check::pcie_link, "the PCI function reports no PCIe link");
  const auto rate = fastest_port(device);
  const bool too_little = rate && *narrowest(pci) < *rate;
  if (bad.empty()) {
    judge.ok(check::pcie_link, listed(all));
  } else {
    judge.add_finding(check::pcie_link, too_little ? Verdict::critical : Verdict::warning, listed(bad));
  }
  if (!rate) return;
  judge.add_finding(check::pcie_bandwidth, too_little ? Verdict::warning : Verdict::ok,
                    fmt::format("{} for a port of {}", gigabits(*narrowest(pci)), gigabits(*rate)));
}

void check_node(const PciFacts& pci, const SystemFacts& system, const Judge& judge) {
  if (!system.numa_nodes)
    return judge.unread(check::numa_node, "devices/system/node/online", system.numa_nodes.error());
  if (*system.numa_nodes < 2) return judge.ok(check::numa_node, "the host has one NUMA node");
  if (!pci.numa_node) return judge.unread(check::numa_node, "numa_node", pci.numa_node.error());
  const bool known = *pci.numa_node >= 0;
  judge.add_finding(check::numa_node, known ? Verdict::ok : Verdict::warning,
                    fmt::format("numa_node {} on a host with {} nodes", *pci.numa_node, *system.numa_nodes));
}

void check_vectors(const PciFacts& pci, const SystemFacts& system, const Judge& judge) {
  if (!system.numa_nodes || *system.numa_nodes < 2 || !pci.numa_node || *pci.numa_node < 0) return;
  if (!pci.local_cpus) return judge.unread(check::irq_affinity, "local_cpulist", pci.local_cpus.error());
  if (!pci.vectors) {
    if (is_absent(pci.vectors.error())) return;
    return judge.unread(check::irq_affinity, "the affinity of the interrupts", pci.vectors.error());
  }
  if (pci.vectors->empty()) return;
  const auto local = static_cast<std::uint64_t>(
      std::count_if(pci.vectors->begin(), pci.vectors->end(),
                    [&](const Vector& vector) { return vector.cpus.intersects(*pci.local_cpus); }));
  // An adapter often has more vectors than its node has processors: the others have to be elsewhere.
  const std::uint64_t possible = std::min<std::uint64_t>(pci.vectors->size(), pci.local_cpus->count());
  judge.add_finding(check::irq_affinity, 2 * local < possible ? Verdict::warning : Verdict::ok,
                    fmt::format("{} of {} vectors go to the {} processors of node {}", local,
                                pci.vectors->size(), pci.local_cpus->count(), *pci.numa_node));
}

}  // namespace

void check_pcie(const DeviceFacts& device, const SystemFacts& system, Findings& out) {
  if (!device.pci) return;
  const Judge judge(out, of_device(device));
  check_links(device, judge);
  check_node(*device.pci, system, judge);
  check_vectors(*device.pci, system, judge);
}

}  // namespace rdma_exporter::doctor
