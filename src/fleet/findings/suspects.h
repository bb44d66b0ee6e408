// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <vector>

#include "fleet/findings/vote.h"

// Blames NICs that two witnesses accuse: their own counters, and the paths through them.
namespace rdma_exporter::fleet {

/// Adds to the verdict of a vote those of `suspects` (NICs whose counters say that they lose packets) that
/// had too few votes. Busy hosts do not vote; of a NIC on such a host, or one that such hosts probe, often
/// fewer than three paths are left. Here these hosts are heard too: a bad path of theirs says the less, the
/// more of their other paths are bad. Alone that would accuse too many of thousands of NICs, but suspects are
/// few.
void blame_suspects(const std::vector<VoteNic>& nics, const std::vector<VoteEdge>& edges,
                    const std::vector<std::size_t>& suspects, Verdict& verdict);

}  // namespace rdma_exporter::fleet
