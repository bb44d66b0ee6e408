// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/mesh/rails.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>

namespace rdma_exporter::probe {

std::map<std::string, Rail> rails_of(std::vector<RailDevice> devices) {
  const auto is_frontend = [](const RailDevice& device) { return device.default_route; };
  if (!std::all_of(devices.begin(), devices.end(), is_frontend)) std::erase_if(devices, is_frontend);
  std::map<std::string, Rail> rails;
  if (devices.size() > std::numeric_limits<std::uint8_t>::max())
    return rails;  // more than a frame can express
  std::sort(devices.begin(), devices.end(), [](const RailDevice& a, const RailDevice& b) {
    return std::tie(a.pci_address, a.name) < std::tie(b.pci_address, b.name);
  });
  const auto count = static_cast<std::uint8_t>(devices.size());
  for (std::uint8_t i = 0; i < count; ++i) rails[devices[i].name] = Rail{i, count};
  return rails;
}

}  // namespace rdma_exporter::probe
