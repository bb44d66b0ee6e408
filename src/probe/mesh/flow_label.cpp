// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/mesh/flow_label.h"

#include <string>

#include "probe/mesh/stable_hash.h"

namespace rdma_exporter::probe {

std::uint16_t udp_source_port(std::uint32_t flow_label) {
  const std::uint32_t low = flow_label & 0x03fff;
  const std::uint32_t high = (flow_label & 0xfc000) >> 14;
  return static_cast<std::uint16_t>((low ^ high) | 0xc000);
}

std::uint32_t flow_label(const Gid& from, const Gid& to, unsigned flow) {
  std::string key(from.bytes.begin(), from.bytes.end());
  key.append(to.bytes.begin(), to.bytes.end());
  key.append(std::to_string(flow));
  const auto label = static_cast<std::uint32_t>(stable_hash(key) & 0xfffff);
  return label != 0 ? label : 1;
}

}  // namespace rdma_exporter::probe
