// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "doctor/host_facts.h"

// Sentences about counters. In src/doctor/words, only this file knows names of families.
namespace rdma_exporter::doctor {

/// "1,234,567"; fractions only below 10.
std::string grouped_number(double value);
/// "23 %", "0.4 %".
std::string percent(double share);
/// The value of a label in a rendered block; empty if it is missing.
std::string label_of(std::string_view labels, std::string_view name);

/// Whether counters of this family are shown to people, in words or as bars.
bool has_words(std::string_view metric);

/// One clause: "priority 3 was paused 23 % of the last 225 s". Empty for a counter that has no words here or
/// that has never moved. `sample_seconds` as in Facts.
std::string clause_of(const CounterFacts& counter, double sample_seconds);
/// The clauses of several counters of one place, at most `at_most` of them: moving counters first, then by
/// how informative they are.
std::string clauses_of(const std::vector<const CounterFacts*>& counters, double sample_seconds,
                       std::size_t at_most = 3);

/// Whether `all` contains a more informative counter: the number of received pause frames adds nothing once
/// the pause time is known.
bool is_said_by_time(const CounterFacts& counter, const std::vector<const CounterFacts*>& all);

/// The quantity of a port that a bar shows.
enum class Flow : unsigned char { none, receive_bytes, send_bytes, paused_by_fabric, pausing_fabric };
Flow flow_of(const CounterFacts& counter);

}  // namespace rdma_exporter::doctor
