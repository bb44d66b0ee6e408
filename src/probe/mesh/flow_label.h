// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <string>

#include "probe/mesh/stable_hash.h"
#include "probe/rdma/gid.h"

namespace rdma_exporter::probe {

/// The UDP source port of RoCE v2 packets with a flow label, 49152 to 65535, which switches hash to choose
/// one of several equal paths. Computed like rdma_flow_label_to_udp_sport() in include/rdma/ib_verbs.h.
inline std::uint16_t udp_source_port(std::uint32_t flow_label) {
  const std::uint32_t low = flow_label & 0x03fff;
  const std::uint32_t high = (flow_label & 0xfc000) >> 14;
  return static_cast<std::uint16_t>((low ^ high) | 0xc000);
}

/// Flow label of the `flow`th flow between two ports: 20 bits, never 0, because the kernel would then derive
/// it from queue pair numbers. It stays the same after a reconnect, so that a session keeps its path.
inline std::uint32_t flow_label(const Gid& from, const Gid& to, unsigned flow) {
  std::string key(from.bytes.begin(), from.bytes.end());
  key.append(to.bytes.begin(), to.bytes.end());
  key.append(std::to_string(flow));
  const auto label = static_cast<std::uint32_t>(stable_hash(key) & 0xfffff);
  return label != 0 ? label : 1;
}

}  // namespace rdma_exporter::probe
