// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fleet/problem.h"
#include "fleet/promql.h"

// Values of a NIC that are too high: failing links, stragglers of a rail, exhausted resources.
namespace rdma_exporter::fleet {

void ask_signs(const PromQl& ql, Plan& plan);
/// What costs a join, once it is known where, or how fast the ports are.
/// What does not depend on other answers, of the whole fleet.
void ask_recordable_signs(const PromQl& ql, Plan& plan);
void ask_rare_signs(const PromQl& ql, const Tables& tables, Plan& plan);
void find_signs(const Hosts& hosts, const Tables& tables, Analysis& out);

/// NICs (instance, device) whose counters of lost packets are too high, where few of the rail have that.
std::set<std::pair<std::string, std::string>> losing_by_counters(const Hosts& hosts, const Tables& tables);

/// Names of the tables above, for the list of checks.
std::vector<std::string> sign_tables();

}  // namespace rdma_exporter::fleet
