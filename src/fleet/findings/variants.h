// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include "fleet/problem.h"
#include "fleet/promql.h"

// Settings and hardware that differ from those of most others.
namespace rdma_exporter::fleet {

/// First round: the values on each rail. A single value means that nothing differs.
void ask_values(const PromQl& ql, Plan& plan);
/// Second round, for properties with several values: the values of each model of adapter.
/// What does not depend on other answers, of the whole fleet.
void ask_recordable_values(const PromQl& ql, Plan& plan);
void ask_models(const PromQl& ql, const Tables& tables, Plan& plan);
/// Third round: the members with a rare value.
void ask_members(const PromQl& ql, const Tables& tables, Plan& plan);

void find_variants(const Hosts& hosts, const Tables& tables, Analysis& out);

}  // namespace rdma_exporter::fleet
