// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "doctor/report.h"

#include <fmt/core.h>

#include <algorithm>

#include "doctor/checks/checks.h"
#include "doctor/judge.h"
#include "doctor/render.h"

namespace rdma_exporter::doctor {
namespace {

constexpr std::size_t kMaxOwners = 20;
constexpr std::size_t kMaxCounters = 200;

std::string pcie_text(const DeviceFacts& device) {
  if (!device.pci || device.pci->links.empty()) return "-";
  const PcieEnd& end = device.pci->links.front().below;
  if (!end.speed || !end.width) return device.pci->address;
  return fmt::format("{}, {:g} GT/s x{}", device.pci->address, *end.speed / 1e9, *end.width);
}

ReportTable device_table(const Facts& facts) {
  ReportTable table{
      "Devices", {"Device", "Driver", "Firmware", "Model", "PCIe", "NUMA node"}, {}, "No RDMA device."};
  for (const DeviceFacts& device : facts.devices) {
    const bool node = device.pci && device.pci->numa_node;
    table.rows.push_back({device.name, device.driver, device.firmware, device.board_id, pcie_text(device),
                          node ? std::to_string(*device.pci->numa_node) : "-"});
  }
  for (const std::string& name : facts.silent_devices)
    table.rows.push_back({name, "did not answer", "", "", "", ""});
  return table;
}

std::string netdevs_of(const DeviceFacts& device, const PortFacts& port) {
  std::vector<std::string> names;
  for (const NetdevFacts& netdev : device.netdevs)
    if (netdev.port == port.number) names.push_back(netdev.name);
  return names.empty() ? "-" : listed(names);
}

ReportTable port_table(const Facts& facts) {
  ReportTable table{
      "Ports", {"Port", "State", "Link layer", "Rate", "RDMA MTU", "Interface", "GIDs"}, {}, "No port."};
  for (const DeviceFacts& device : facts.devices)
    for (const PortFacts& port : device.ports)
      table.rows.push_back({fmt::format("{}/{}", device.name, port.number),
                            port.state ? std::string(port_state_name(*port.state)) : "unknown",
                            port.link_layer, port.rate ? gigabits(*port.rate) : "-",
                            port.mtu ? fmt::format("{} of {}", port.mtu->active, port.mtu->max) : "-",
                            netdevs_of(device, port),
                            port.gids ? std::to_string((*port.gids)->size()) : "-"});
  return table;
}

ReportTable counter_table(const Facts& facts) {
  ReportTable table{"Counters that are not 0",
                    {"Counter", "Labels", "Since the driver was loaded", "While watching"},
                    {},
                    "All counters of errors, losses and congestion are 0."};
  for (const CounterFacts& counter : facts.counters) {
    if (counter.total <= 0 || !matters(counter) || table.rows.size() == kMaxCounters) continue;
    table.rows.push_back({counter.metric, counter.labels, fmt::format("{:.12g}", counter.total),
                          counter.moved ? fmt::format("+{:.12g}", *counter.moved) : "-"});
  }
  return table;
}

ReportTable owner_table(std::vector<Owner> owners) {
  ReportTable table{"Owners with the most registered memory",
                    {"Device", "Kind", "Owner", "Container", "Queue pairs", "Memory"},
                    {},
                    "None, or the kernel does not report them (docs/RESOURCES.md)."};
  std::stable_sort(owners.begin(), owners.end(), [](const Owner& one, const Owner& other) {
    return one.memory_bytes > other.memory_bytes;
  });
  if (owners.size() > kMaxOwners) owners.resize(kMaxOwners);
  constexpr double kMebibyte = 1024.0 * 1024.0;
  for (const Owner& owner : owners)
    table.rows.push_back({owner.device, owner.kind, owner.name, owner.container, std::to_string(owner.qps),
                          fmt::format("{:.1f} MiB", static_cast<double>(owner.memory_bytes) / kMebibyte)});
  return table;
}

constexpr std::size_t kWidest = 60;  // a longer cell overflows, rather than widening the column for all rows

std::vector<std::size_t> widths(const ReportTable& table) {
  std::vector<std::size_t> result;
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    std::size_t width = table.columns[column].size();
    for (const auto& row : table.rows) width = std::max(width, row[column].size());
    result.push_back(std::min(width, kWidest));
  }
  return result;
}

std::string line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) {
  std::string text = " ";
  for (std::size_t column = 0; column < cells.size(); ++column)
    text += fmt::format(" {:<{}} ", cells[column], widths[column]);
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

}  // namespace

Report make_report(const Facts& facts, const Findings& findings, std::vector<Owner> owners) {
  Report report;
  report.title = "RDMA report of " + printable(facts.system.host_name.value_or("an unknown host"));
  report.summary = verdict_text(facts, findings, false);
  report.tables = {device_table(facts), port_table(facts), counter_table(facts),
                   owner_table(std::move(owners))};
  for (ReportTable& table : report.tables)
    for (auto& row : table.rows)
      for (std::string& cell : row) cell = printable(cell);
  return report;
}

std::string report_text(const Report& report) {
  std::string out = fmt::format("{}\n{}\n", report.title, report.summary);
  for (const ReportTable& table : report.tables) {
    out += fmt::format("\n{}\n", table.title);
    if (table.rows.empty()) out += "  " + table.when_empty + "\n";
    if (table.rows.empty()) continue;
    const auto columns = widths(table);
    out += line(table.columns, columns);
    for (const auto& row : table.rows) out += line(row, columns);
  }
  return out;
}

}  // namespace rdma_exporter::doctor
