// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <map>
#include <string>
#include <vector>

#include "probe/channel/frame.h"

namespace rdma_exporter::probe {

/// Facts that decide whether a device of this host is a rail, and which one.
struct RailDevice {
  std::string name;
  std::string pci_address;  ///< as in sysfs; empty: a virtual device
  bool default_route =
      false;  ///< the default route leaves the host there: it belongs to the frontend network
};

/// The rail of each device by its name. Rails are numbered in the order of PCI addresses, so that hosts with
/// different device names agree. A frontend device is not a rail unless the host has no other.
std::map<std::string, Rail> rails_of(std::vector<RailDevice> devices);

}  // namespace rdma_exporter::probe
