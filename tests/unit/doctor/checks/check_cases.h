// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/checks/checks.h"
#include "tests/unit/doctor/doctor_facts.h"

namespace rdma_exporter::doctor {

/// The healthy host with one thing changed, and what a check says of it.
struct CheckCase {
  std::string_view check;
  std::string_view name;
  Verdict verdict;  ///< of the first device; none is expected of the host's other device
  std::function<void(Facts&)> change;
  std::string_view evidence = "";  ///< a part of it
};
inline void PrintTo(const CheckCase& it, std::ostream* out) { *out << it.check << ": " << it.name; }

/// What a check has to find.
const std::vector<CheckCase>& bad_cases();
/// What looks like trouble and is none.
const std::vector<CheckCase>& good_cases();

inline DeviceFacts& device(Facts& facts) { return facts.devices.front(); }
inline PortFacts& port(Facts& facts) { return device(facts).ports.front(); }
inline NetdevFacts& netdev(Facts& facts) { return device(facts).netdevs.front(); }
// What facts share is copied before a case changes it.
inline std::vector<host::Gid>& gids(Facts& facts) {
  const auto own = std::make_shared<std::vector<host::Gid>>(**port(facts).gids);
  port(facts).gids = own;
  return *own;
}
inline host::dcb::Ieee& dcb(Facts& facts) {
  const auto own = std::make_shared<host::dcb::Ieee>(**netdev(facts).dcb);
  netdev(facts).dcb = own;
  return *own;
}
inline PciFacts& pci(Facts& facts) {
  const auto own = std::make_shared<PciFacts>(*device(facts).pci);
  device(facts).pci = own;
  return *own;
}
inline void count(Facts& facts, std::string_view metric, double total, double moved) {
  for (CounterFacts& counter : facts.counters)
    if (counter.metric == metric) {
      counter.total = total;
      counter.moved = moved;
    }
}
inline void measure(Facts& facts, std::string_view metric, std::string_view label, double value) {
  for (GaugeFacts& gauge : facts.gauges)
    if (gauge.metric == metric && gauge.labels.find(label) != std::string::npos) gauge.value = value;
}
inline void make_infiniband(Facts& facts) {
  for (DeviceFacts& each : facts.devices) {
    each.protocol = "ib";
    each.ports.front().link_layer = "InfiniBand";
    each.netdevs.clear();
  }
}

}  // namespace rdma_exporter::doctor
