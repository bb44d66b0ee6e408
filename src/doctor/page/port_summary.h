// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>
#include <vector>

#include "doctor/check.h"
#include "doctor/host_facts.h"
#include "doctor/words/problem.h"

namespace rdma_exporter::doctor {

/// A share from 0 to 1.
struct Bar {
  std::string label;
  double share = 0;
  std::string text;
  bool is_bad = false;  ///< the longer the bar, the worse
};

/// A port as the page shows it. All text is printable, but not escaped.
struct PortSummary {
  std::string name;    ///< "mlx5_0/1"; without a number if the device has not answered
  std::string netdev;  ///< "cx0"; empty: none
  std::string state;   ///< "ACTIVE, 100 Gb/s"
  std::string device;  ///< "mlx5_core 28.39.1002, PCIe 32 GT/s x16, NUMA node 1"
  Verdict verdict = Verdict::ok;
  std::vector<Bar> bars;               ///< traffic; the most paused priorities
  std::vector<std::string> sentences;  ///< one for each problem
  std::string moving;                  ///< clauses about other counters that moved
};

/// All ports, worst verdict first; problems of a device are shown with its first port.
std::vector<PortSummary> summarize_ports(const Facts& facts, const std::vector<Problem>& problems);

/// "32 GT/s x16"; empty if unknown.
std::string pcie_link_text(const DeviceFacts& device);

}  // namespace rdma_exporter::doctor
