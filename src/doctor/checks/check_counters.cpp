// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Checks of counters. They use the exporter's own families, so that a rule holds for the counters of all
// drivers.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>

#include "doctor/checks/checks.h"
#include "doctor/judge.h"
#include "doctor/words/counter_words.h"

namespace rdma_exporter::doctor {
namespace {

struct Rule {
  const Check* check;
  std::string_view metric;
  std::string_view label;  ///< a part of the labels; empty: any
  Verdict ever;            ///< verdict if it is above 0
  Verdict moving;          ///< verdict if it moves during the sample
  double per_second = 0;   ///< faster than this
};

constexpr Verdict kOk = Verdict::ok;
constexpr Verdict kWarning = Verdict::warning;
constexpr Verdict kCritical = Verdict::critical;

// Thresholds as in the alerts: events that a healthy fabric has too are findings only above a certain rate.
constexpr std::array kRules{
    Rule{&check::discards, "rdma_priority_discards_total", "", kOk, kWarning},
    Rule{&check::discards, "rdma_netdev_discards_total", "", kOk, kWarning},
    Rule{&check::discards, "rdma_port_transmit_discards_total", "", kOk, kWarning},
    Rule{&check::receive_buffers, "rdma_port_receive_buffer_missing_total", "", kOk, kWarning, 1},
    Rule{&check::receive_buffers, "rdma_port_rnr_naks_total", "", kOk, kWarning, 10},
    Rule{&check::pause_frames, "rdma_netdev_pause_storm_events_total", "", kWarning, kCritical},
    Rule{&check::pause_frames, "rdma_pfc_pause_seconds_total", "direction=\"tx\"", kOk, kCritical, 0.10},
    Rule{&check::pause_frames, "rdma_pfc_pause_seconds_total", "direction=\"rx\"", kOk, kWarning, 0.05},
    Rule{&check::pause_frames, "rdma_pfc_frames_total", "", kOk, kWarning, 10},
    Rule{&check::pause_frames, "rdma_netdev_pause_frames_total", "", kOk, kWarning},
    Rule{&check::retries, "rdma_port_retries_exceeded_total", "", kWarning, kCritical},
    Rule{&check::retries, "rdma_port_ack_timeouts_total", "", kOk, kWarning, 1},
    Rule{&check::retries, "rdma_port_sequence_naks_total", "", kOk, kWarning, 1},
    Rule{&check::retries, "rdma_port_out_of_sequence_total", "", kOk, kWarning, 1},
    Rule{&check::retries, "rdma_port_retransmitted_packets_total", "", kOk, kWarning, 1},
    Rule{&check::retries, "rdma_port_slow_restarts_total", "", kOk, kWarning, 10},
    Rule{&check::link_errors, "rdma_port_symbol_errors_total", "", kOk, kWarning},
    Rule{&check::link_errors, "rdma_port_link_recoveries_total", "", kOk, kWarning},
    Rule{&check::link_errors, "rdma_port_link_downed_total", "", kOk, kCritical},
    Rule{&check::link_errors, "rdma_port_receive_errors_total", "", kOk, kWarning},
    Rule{&check::link_errors, "rdma_port_icrc_errors_total", "", kOk, kWarning},
    Rule{&check::link_errors, "rdma_netdev_pcs_symbol_errors_total", "", kOk, kWarning, 10},
    Rule{&check::link_errors, "rdma_netdev_symbol_errors_total", "", kOk, kWarning, 10},
    Rule{&check::link_errors, "rdma_netdev_mac_errors_total", "error=\"fcs\"", kOk, kWarning},
    Rule{&check::link_errors, "rdma_netdev_fec_blocks_total", "result=\"uncorrectable\"", kWarning,
         kCritical},
    Rule{&check::link_errors, "rdma_netdev_link_down_events_total", "", kOk, kCritical},
    Rule{&check::pcie_errors, "rdma_device_pcie_error_messages_total", "level=\"correctable\"", kOk, kWarning,
         0.1},
    Rule{&check::pcie_errors, "rdma_device_pcie_error_messages_total", "level=\"nonfatal\"", kOk, kCritical},
    Rule{&check::pcie_errors, "rdma_device_pcie_error_messages_total", "level=\"fatal\"", kWarning,
         kCritical},
    Rule{&check::pcie_errors, "rdma_device_pcie_root_error_messages_total", "level=\"fatal\"", kWarning,
         kCritical},
};

// Counters without a rule: they follow from others, or are a matter of degree.
constexpr std::array<std::string_view, 12> kWorthSeeing{
    "rdma_port_access_errors_total",      "rdma_port_cqe_errors_total",
    "rdma_port_cnp_packets_total",        "rdma_port_cnp_ignored_total",
    "rdma_port_constraint_errors_total",  "rdma_port_duplicate_requests_total",
    "rdma_port_ecn_marked_packets_total", "rdma_port_implied_naks_total",
    "rdma_pfc_pause_seconds_total",       "rdma_netdev_pcie_stall_seconds_total",
    "rdma_device_health_errors_total",    "rdma_netdev_health_errors_total"};

bool applies(const Rule& rule, const CounterFacts& counter) {
  return rule.metric == counter.metric && counter.labels.find(rule.label) != std::string::npos;
}

// The findings of one check about one subject.
struct Group {
  Verdict verdict = Verdict::ok;
  std::vector<std::string> bad;
  std::vector<std::string> ever;
  std::vector<const CounterFacts*> to_say;  ///< those of `bad` that the sentence mentions
  std::size_t series = 0;
};

std::string text(const CounterFacts& counter, double sample_seconds) {
  const std::string moved = counter.moved.value_or(0) > 0
                                ? fmt::format(", +{:.9g} in {:g} s", *counter.moved, sample_seconds)
                                : std::string();
  return fmt::format("{}{{{}}} {:.12g}{}", counter.metric, counter.labels, counter.total, moved);
}

void apply(const Rule& rule, const CounterFacts& counter, double sample_seconds, Group& group) {
  ++group.series;
  if (counter.total <= 0) return;
  const bool moving = sample_seconds > 0 && counter.moved.value_or(0) > 0 &&
                      *counter.moved / sample_seconds > rule.per_second;
  const Verdict verdict = moving ? std::max(rule.moving, rule.ever) : rule.ever;
  group.verdict = std::max(group.verdict, verdict);
  (verdict == Verdict::ok ? group.ever : group.bad).push_back(text(counter, sample_seconds));
  if (verdict != Verdict::ok) group.to_say.push_back(&counter);
}

std::string evidence(const Group& group, double sample_seconds) {
  if (!group.bad.empty()) return listed(group.bad);
  if (group.ever.empty()) return fmt::format("{} counters, all 0", group.series);
  return (sample_seconds > 0 ? "counted, but not now: " : "counted at some time: ") + listed(group.ever);
}

}  // namespace

bool matters(const CounterFacts& counter) {
  return std::any_of(kRules.begin(), kRules.end(),
                     [&](const Rule& rule) { return applies(rule, counter); }) ||
         std::find(kWorthSeeing.begin(), kWorthSeeing.end(), counter.metric) != kWorthSeeing.end();
}

void check_counters(const std::vector<CounterFacts>& counters, double sample_seconds, Findings& out) {
  using Key = std::tuple<std::string_view, std::string, std::string, std::string>;
  std::map<Key, std::pair<const Check*, Group>> groups;
  for (const CounterFacts& counter : counters)
    for (const Rule& rule : kRules) {
      if (!applies(rule, counter)) continue;
      auto& [check, group] = groups[{rule.check->id, counter.device, counter.port, counter.netdev}];
      check = rule.check;
      apply(rule, counter, sample_seconds, group);
    }
  for (const auto& [key, entry] : groups)
    out.push_back({entry.first,
                   {std::get<1>(key), std::get<2>(key), std::get<3>(key)},
                   entry.second.verdict,
                   evidence(entry.second, sample_seconds),
                   clauses_of(entry.second.to_say, sample_seconds)});
}

}  // namespace rdma_exporter::doctor
