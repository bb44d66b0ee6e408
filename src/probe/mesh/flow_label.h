// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>

#include "probe/rdma/gid.h"

namespace rdma_exporter::probe {

/// The UDP source port of RoCE v2 packets with a flow label, 49152 to 65535, which switches hash to choose
/// one of several equal paths. Computed like rdma_flow_label_to_udp_sport() in include/rdma/ib_verbs.h.
std::uint16_t udp_source_port(std::uint32_t flow_label);

/// Flow label of the `flow`th flow between two ports: 20 bits, never 0, because the kernel would then derive
/// it from queue pair numbers. It stays the same after a reconnect, so that a session keeps its path.
std::uint32_t flow_label(const Gid& from, const Gid& to, unsigned flow);

}  // namespace rdma_exporter::probe
