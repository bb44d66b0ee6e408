// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>

#include "probe/rdma/gid.h"

namespace rdma_exporter::probe {

/// The UDP source port that RoCE v2 packets of a flow label carry, 49152 to 65535: what switches hash to
/// choose among equal paths. As rdma_flow_label_to_udp_sport() of include/rdma/ib_verbs.h does it.
std::uint16_t udp_source_port(std::uint32_t flow_label);

/// Flow label (20 bits, never 0, which would let the kernel choose by queue pair numbers) of the `flow`th
/// flow between two ports: the same after every reconnect, so that a session keeps its path.
std::uint32_t flow_label(const Gid& from, const Gid& to, unsigned flow);

}  // namespace rdma_exporter::probe
