// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "doctor/page/port_summary.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "doctor/judge.h"
#include "doctor/render.h"
#include "doctor/words/counter_words.h"

namespace rdma_exporter::doctor {
namespace {

constexpr std::size_t kMaxPauses = 2;  // priorities in each direction
constexpr double kWorthABar = 0.0005;

using Key = std::pair<std::string, std::string>;  // device and port
struct OfPort {
  std::vector<const CounterFacts*> counters;
  std::vector<const Problem*> problems;
};

// Groups by port. Problems of a device as a whole go to the port that `first` names.
std::map<Key, OfPort> by_port(const Facts& facts, const std::vector<Problem>& problems,
                              const std::map<std::string, std::string>& first) {
  std::map<Key, OfPort> ports;
  for (const CounterFacts& counter : facts.counters)
    ports[{counter.device, counter.port}].counters.push_back(&counter);
  for (const Problem& problem : problems)
    for (const Finding* finding : problem.findings) {
      const Subject& subject = finding->subject;
      const auto known = first.find(subject.device);
      const std::string port = subject.port.empty() && known != first.end() ? known->second : subject.port;
      auto& list = ports[{subject.device, port}].problems;
      if (list.empty() || list.back() != &problem) list.push_back(&problem);
    }
  return ports;
}

struct Flows {
  std::map<Flow, double> bytes;                                        ///< per second
  std::map<Flow, std::vector<std::pair<double, std::string>>> pauses;  ///< share and priority
};

Flows flows_of(const std::vector<const CounterFacts*>& counters, double sample_seconds) {
  Flows flows;
  if (sample_seconds <= 0) return flows;
  for (const CounterFacts* counter : counters) {
    const Flow flow = flow_of(*counter);
    if (flow == Flow::none || !counter->moved) continue;
    const double rate = *counter->moved / sample_seconds;
    const bool bytes = flow == Flow::receive_bytes || flow == Flow::send_bytes;
    if (bytes) flows.bytes[flow] += rate;
    if (!bytes && rate > kWorthABar)
      flows.pauses[flow].emplace_back(rate, label_of(counter->labels, "priority"));
  }
  for (auto& [flow, pauses] : flows.pauses) std::sort(pauses.rbegin(), pauses.rend());
  return flows;
}

std::vector<Bar> bars_of(const OfPort& port, const Fact<double>& rate, double sample_seconds) {
  const Flows flows = flows_of(port.counters, sample_seconds);
  std::vector<Bar> bars;
  for (const auto& [flow, bytes] : flows.bytes) {
    const double share = rate && *rate > 0 ? std::min(1.0, bytes / *rate) : 0;
    bars.push_back({flow == Flow::receive_bytes ? "in" : "out", share, gigabits(bytes), false});
  }
  for (const auto& [flow, pauses] : flows.pauses)
    for (std::size_t i = 0; i < std::min(pauses.size(), kMaxPauses); ++i) {
      const std::string_view word = flow == Flow::paused_by_fabric ? "paused" : "pausing";
      bars.push_back({fmt::format("{}, priority {}", word, pauses[i].second), std::min(1.0, pauses[i].first),
                      percent(pauses[i].first), true});
    }
  return bars;
}

// Counters that the sentences do not mention.
std::string moving_text(const OfPort& port, double sample_seconds,
                        const std::vector<std::string>& sentences) {
  std::vector<const CounterFacts*> rest;
  for (const CounterFacts* counter : port.counters) {
    if (sample_seconds <= 0 || counter->moved.value_or(0) <= 0 || flow_of(*counter) != Flow::none) continue;
    if (is_said_by_time(*counter, port.counters)) continue;
    const std::string clause = clause_of(*counter, sample_seconds);
    const auto says_it = [&](const std::string& sentence) {
      return sentence.find(clause) != std::string::npos;
    };
    if (std::none_of(sentences.begin(), sentences.end(), says_it)) rest.push_back(counter);
  }
  return clauses_of(rest, sample_seconds);
}

std::string device_text(const DeviceFacts& device) {
  std::string text = device.driver;
  if (!device.firmware.empty()) text += " " + device.firmware;
  if (const std::string pcie = pcie_link_text(device); !pcie.empty()) text += ", PCIe " + pcie;
  if (device.pci && device.pci->numa_node && *device.pci->numa_node >= 0)
    text += fmt::format(", NUMA node {}", *device.pci->numa_node);
  return printable(text);
}

std::string state_text(const PortFacts& port) {
  std::string text = port.state ? std::string(port_state_name(*port.state)) : "state unknown";
  if (is_active(port) && port.rate) text += ", " + gigabits(*port.rate);
  if (port.mtu && port.mtu->active > 0) text += fmt::format(", RDMA MTU {}", port.mtu->active);
  return text;
}

std::string netdev_of(const DeviceFacts& device, const PortFacts& port) {
  std::vector<std::string> names;
  for (const NetdevFacts& netdev : device.netdevs)
    if (netdev.port == port.number) names.push_back(printable(netdev.name));
  return names.empty() ? "" : listed(names);
}

void add_problems(const OfPort& of, PortSummary& summary) {
  for (const Problem* problem : of.problems) {
    summary.verdict = std::max(summary.verdict, problem->verdict);
    summary.sentences.push_back(problem->sentence);
  }
}

PortSummary summarize(const DeviceFacts& device, const PortFacts& port, const OfPort& of,
                      double sample_seconds) {
  PortSummary summary;
  summary.name = printable(fmt::format("{}/{}", device.name, port.number));
  summary.netdev = netdev_of(device, port);
  summary.state = state_text(port);
  summary.device = device_text(device);
  add_problems(of, summary);
  summary.bars = bars_of(of, port.rate, sample_seconds);
  summary.moving = printable(moving_text(of, sample_seconds, summary.sentences));
  return summary;
}

}  // namespace

std::string pcie_link_text(const DeviceFacts& device) {
  if (!device.pci || device.pci->links.empty()) return {};
  const PcieEnd& end = device.pci->links.front().below;
  return end.speed && end.width ? fmt::format("{:g} GT/s x{}", *end.speed / 1e9, *end.width) : std::string();
}

std::vector<PortSummary> summarize_ports(const Facts& facts, const std::vector<Problem>& problems) {
  std::map<std::string, std::string> first;
  for (const DeviceFacts& device : facts.devices)
    if (!device.ports.empty()) first[device.name] = std::to_string(device.ports.front().number);
  auto of = by_port(facts, problems, first);
  std::vector<PortSummary> ports;
  for (const DeviceFacts& device : facts.devices) {
    for (const PortFacts& port : device.ports)
      ports.push_back(
          summarize(device, port, of[{device.name, std::to_string(port.number)}], facts.sample_seconds));
    if (!device.ports.empty()) continue;
    ports.push_back({printable(device.name), "", "no port", device_text(device), Verdict::ok, {}, {}, ""});
    add_problems(of[{device.name, ""}], ports.back());
  }
  for (const std::string& name : facts.silent_devices)
    ports.push_back({printable(name), "", "did not answer", "", Verdict::unknown, {}, {}, ""});
  std::stable_sort(ports.begin(), ports.end(), [](const PortSummary& one, const PortSummary& other) {
    // "mlx5_2" before "mlx5_10".
    return one.verdict != other.verdict ? one.verdict > other.verdict
                                        : ::strverscmp(one.name.c_str(), other.name.c_str()) < 0;
  });
  return ports;
}

}  // namespace rdma_exporter::doctor
