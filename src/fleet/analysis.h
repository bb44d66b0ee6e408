// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include "fleet/hosts.h"
#include "fleet/problem.h"
#include "fleet/promql.h"
#include "fleet/table.h"

namespace rdma_exporter::fleet {

/// The queries of every analysis whose text does not depend on answers, each for the whole fleet: what
/// to_rules() makes rules of.
Plan recordable(const Options& options);

/// Sends queries in a few rounds, in each of them those that do not depend on each other, and draws
/// conclusions. Depends only on the answers: no clock, no I/O. An Analysis with hosts_seen 0 found no RDMA
/// data.
Analysis analyse(const Options& options, const Ask& ask);

}  // namespace rdma_exporter::fleet
