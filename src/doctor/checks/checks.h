// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <vector>

#include "doctor/check.h"
#include "doctor/gather/facts.h"

// The checks: pure functions over facts, a file for each subject. What cannot be read is the verdict unknown
// with its reason; what does not apply (PFC of an InfiniBand port) gives no finding.
namespace rdma_exporter::doctor {

// Of one device.
void check_ports(const DeviceFacts& device, Findings& out);
void check_pcie(const DeviceFacts& device, const SystemFacts& system, Findings& out);
void check_ethernet(const DeviceFacts& device, Findings& out);
void check_lossless(const DeviceFacts& device, Findings& out);
void check_resources(const DeviceFacts& device, Findings& out);
// Of all devices together.
void check_devices(const SystemFacts& system, const std::vector<DeviceFacts>& devices, Findings& out);
void check_system(const SystemFacts& system, const std::vector<DeviceFacts>& devices, Findings& out);
void check_counters(const std::vector<CounterFacts>& counters, double sample_seconds, Findings& out);

/// Whether a report shows the counter where it is not 0: it tells of errors, losses or congestion.
bool matters(const CounterFacts& counter);

/// Those of one device.
Findings diagnose_device(const DeviceFacts& device, const SystemFacts& system);
/// Those of the host, and those that compare devices.
Findings diagnose_host(const SystemFacts& system, const std::vector<DeviceFacts>& devices);
/// All of them, worst first.
Findings diagnose(const Facts& facts);

}  // namespace rdma_exporter::doctor
