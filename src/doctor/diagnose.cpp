// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include <algorithm>

#include "doctor/checks/checks.h"
#include "doctor/judge.h"

namespace rdma_exporter::doctor {

Findings diagnose_device(const DeviceFacts& device, const SystemFacts& system,
                         const std::optional<ProbeFacts>& probe) {
  Findings findings;
  check_ports(device, findings);
  check_pcie(device, system, findings);
  check_ethernet(device, findings);
  check_lossless(device, probe, findings);
  check_resources(device, findings);
  return findings;
}

Findings diagnose_host(const SystemFacts& system, const DeviceRefs& devices) {
  Findings findings;
  check_devices(system, devices, findings);
  check_system(system, devices, findings);
  return findings;
}

Findings diagnose(const Facts& facts) {
  Findings all = diagnose_host(facts.system, {facts.devices.begin(), facts.devices.end()});
  if (!facts.devices_listed) {
    std::erase_if(all, [](const Finding& finding) { return finding.check == &check::device_present; });
    Judge(all, {}).unknown(check::device_present, "the list of devices was not read in time");
  }
  for (const DeviceFacts& device : facts.devices) {
    Findings of_device = diagnose_device(device, facts.system, facts.probe);
    std::move(of_device.begin(), of_device.end(), std::back_inserter(all));
  }
  for (const std::string& name : facts.silent_devices)
    Judge(all, {name, "", ""}).unknown(check::port_state, "the device did not answer in time");
  check_counters(facts.counters, facts.sample_seconds, all);
  check_health(facts.gauges, all);
  std::stable_sort(all.begin(), all.end(),
                   [](const Finding& one, const Finding& other) { return one.verdict > other.verdict; });
  return all;
}

}  // namespace rdma_exporter::doctor
