// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include "fleet/problem.h"
#include "fleet/promql.h"

// Who pauses whom. Hosts forward nothing, so a port that sends pause frames is the root of a tree.
namespace rdma_exporter::fleet {

void ask_pauses(const PromQl& ql, Plan& plan);
/// What else is to be known of the ports that ask_pauses() found.
/// What does not depend on other answers, of the whole fleet.
void ask_recordable_pauses(const PromQl& ql, Plan& plan);
void ask_pause_details(const PromQl& ql, const Tables& tables, Plan& plan);
void find_pauses(const Hosts& hosts, const Tables& tables, Analysis& out);

}  // namespace rdma_exporter::fleet
