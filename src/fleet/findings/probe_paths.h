// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include "fleet/problem.h"
#include "fleet/promql.h"

// Conclusions from failures and suspected retransmissions of the probe: bad paths, and the component that
// they share.
namespace rdma_exporter::fleet {

/// First round: the bad paths, and their number.
void ask_bad_paths(const PromQl& ql, Plan& plan);
/// Whether discovery knows leaves.
void ask_leaf_count(const PromQl& ql, Plan& plan);
/// Second round: all paths of rails with bad paths, with their attempts.
void ask_paths(const PromQl& ql, const Tables& tables, Plan& plan);
/// Afterwards: keeps only the rows of the tables "failing_paths" and "blocked_paths" that are a significant
/// share of those attempts.
void keep_bad_paths(Tables& tables);

void find_bad_paths(const Hosts& hosts, const Tables& tables, Analysis& out);

}  // namespace rdma_exporter::fleet
