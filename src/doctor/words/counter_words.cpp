// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "doctor/words/counter_words.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/labels.h"

namespace rdma_exporter::doctor {
namespace {

constexpr std::string_view kPauseSeconds = "rdma_pfc_pause_seconds_total";
constexpr std::string_view kPfcFrames = "rdma_pfc_frames_total";
constexpr std::string_view kDataBytes = "rdma_port_data_bytes_total";

struct Words {
  std::string_view metric;
  std::string_view text;  ///< {n}: how many, {per}: at what rate, {when}: in what time, {p}: priority
  std::string_view sent;  ///< the same for direction="tx"; empty: as `text`
};

// The most informative first.
constexpr std::array kWords{
    Words{kPauseSeconds, "priority {p} was paused {share}",
          "this host paused its peers on priority {p} {share}"},
    Words{"rdma_netdev_pause_storm_events_total", "the adapter reported {n} pause storms{per}{when}", ""},
    Words{kPfcFrames, "this host received {n} pause frames{per} for priority {p}{when}",
          "this host sent {n} pause frames{per} for priority {p}{when}"},
    Words{"rdma_netdev_pause_frames_total", "this host received {n} global pause frames{per}{when}",
          "this host sent {n} global pause frames{per}{when}"},
    Words{"rdma_netdev_link_down_events_total", "the link went down {n} times{per}{when}", ""},
    Words{"rdma_port_link_downed_total", "the link failed {n} times{per}{when}", ""},
    Words{"rdma_port_retries_exceeded_total",
          "{n} connections{per} were lost{when} because retries were exceeded", ""},
    Words{"rdma_netdev_fec_blocks_total", "FEC could not correct {n} blocks{per}{when}", ""},
    Words{"rdma_priority_discards_total", "{n} packets{per} of priority {p} were dropped{when}", ""},
    Words{"rdma_netdev_discards_total", "{n} packets{per} were dropped{when}", ""},
    Words{"rdma_port_transmit_discards_total", "{n} outbound packets{per} were dropped{when}", ""},
    Words{"rdma_port_receive_buffer_missing_total", "{n} packets{per} found no posted receive buffer{when}",
          ""},
    Words{"rdma_port_rnr_naks_total",
          "a peer told this host {n} times{per} to wait for a receive buffer{when}",
          "this host told a peer {n} times{per} to wait for a receive buffer{when}"},
    Words{"rdma_port_ack_timeouts_total", "{n} acknowledgements{per} timed out{when}", ""},
    Words{"rdma_port_out_of_sequence_total", "{n} packets{per} arrived out of order{when}", ""},
    Words{"rdma_port_sequence_naks_total", "{n} NAKs{per} for lost packets were received{when}", ""},
    Words{"rdma_port_retransmitted_packets_total", "{n} packets{per} were retransmitted{when}", ""},
    Words{"rdma_port_slow_restarts_total", "{n} slow restarts{per}{when}", ""},
    Words{"rdma_port_symbol_errors_total", "{n} symbol errors{per}{when}", ""},
    Words{"rdma_netdev_pcs_symbol_errors_total", "{n} symbol errors{per}{when}", ""},
    Words{"rdma_netdev_symbol_errors_total", "{n} symbol errors{per}{when}", ""},
    Words{"rdma_port_link_recoveries_total", "the link recovered {n} times{per}{when}", ""},
    Words{"rdma_port_receive_errors_total", "{n} damaged packets{per} were received{when}", ""},
    Words{"rdma_port_icrc_errors_total", "{n} packets{per} with a wrong checksum were received{when}", ""},
    Words{"rdma_netdev_mac_errors_total", "{n} damaged frames{per} were received{when}", ""},
    Words{"rdma_port_cnp_packets_total", "this host received {n} congestion notifications (CNP){per}{when}",
          "this host sent {n} congestion notifications (CNP){per}{when}"},
    Words{"rdma_port_ecn_marked_packets_total", "{n} packets{per} with an ECN mark were received{when}", ""},
    Words{"rdma_netdev_pcie_stall_seconds_total", "PCIe stalled the adapter {share}", ""},
    Words{"rdma_device_pcie_error_messages_total", "PCIe reported {n} errors{per}{when}", ""},
    Words{"rdma_device_pcie_root_error_messages_total",
          "the PCIe port above it reported {n} errors{per}{when}", ""},
    Words{"rdma_device_health_errors_total", "the driver reported {n} faults{per}{when}", ""},
    Words{"rdma_netdev_health_errors_total", "the driver reported {n} faults{per}{when}", ""},
    Words{"rdma_port_access_errors_total", "{n} requests{per} were refused{when}", ""},
    Words{"rdma_port_cqe_errors_total", "{n} work requests{per} failed{when}", ""},
    Words{"rdma_port_cnp_ignored_total", "{n} congestion notifications (CNP){per} were ignored{when}", ""},
    Words{"rdma_port_constraint_errors_total", "{n} packets{per} violated a partition rule{when}", ""},
    Words{"rdma_port_duplicate_requests_total", "{n} duplicate requests{per} were received{when}", ""},
    Words{"rdma_port_implied_naks_total", "{n} responses{per} were missing{when}", ""},
};

bool moves(const CounterFacts& counter, double sample_seconds) {
  return sample_seconds > 0 && counter.moved.value_or(0) > 0;
}

struct Amount {
  std::string number;
  std::string_view per;  ///< " per second", or empty
  std::string when;      ///< " in the last 30 s", or empty
};

// Fast counters as a rate, slow ones as what was added.
Amount amount(const CounterFacts& counter, double sample_seconds) {
  if (!moves(counter, sample_seconds))
    return {grouped_number(counter.total), "", " since the driver was loaded"};
  constexpr double kFast = 10;  // per second
  const double rate = *counter.moved / sample_seconds;
  if (rate >= kFast) return {grouped_number(rate), " per second", ""};
  return {grouped_number(*counter.moved), "", fmt::format(" in the last {:.3g} s", sample_seconds)};
}

std::string share(const CounterFacts& counter, double sample_seconds) {
  if (!moves(counter, sample_seconds))
    return fmt::format("for {:.3g} s since the driver was loaded", counter.total);
  return fmt::format("{} of the last {:.3g} s", percent(*counter.moved / sample_seconds), sample_seconds);
}

std::size_t rank(const CounterFacts& counter) {
  const auto row = std::find_if(kWords.begin(), kWords.end(),
                                [&](const Words& words) { return words.metric == counter.metric; });
  return static_cast<std::size_t>(row - kWords.begin());
}

// Labels that the words do not mention: " (rx, port buffer)".
std::string remarks(const CounterFacts& counter) {
  std::string text;
  core::for_each_label(counter.labels, [&](std::string_view name, std::string_view value) {
    constexpr std::array<std::string_view, 6> kSaid{"device",    "port",     "netdev",
                                                    "direction", "priority", "result"};
    if (value.empty() || std::find(kSaid.begin(), kSaid.end(), name) != kSaid.end()) return;
    text.append(text.empty() ? " (" : ", ").append(name == "level" ? "level " : "");
    text.append(value == "rnr" ? "RNR" : value);
  });
  std::replace(text.begin(), text.end(), '_', ' ');
  return text.empty() ? text : text + ")";
}

}  // namespace

std::string grouped_number(double value) {
  if (value < 10 && value != std::floor(value)) return fmt::format("{:.2g}", value);
  std::string digits = fmt::format("{:.0f}", value);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string percent(double share) {
  const double value = share * 100;
  return value >= 10 ? fmt::format("{:.0f} %", value) : fmt::format("{:.2g} %", value);
}

std::string label_of(std::string_view labels, std::string_view name) {
  std::string found;
  core::for_each_label(labels, [&](std::string_view other, std::string_view value) {
    if (other == name) found = value;
  });
  return found;
}

bool has_words(std::string_view metric) {
  return metric == kDataBytes || std::any_of(kWords.begin(), kWords.end(),
                                             [&](const Words& words) { return words.metric == metric; });
}

std::string clause_of(const CounterFacts& counter, double sample_seconds) {
  const std::size_t row = rank(counter);
  if (row == kWords.size() || counter.total <= 0) return {};
  const bool sent = label_of(counter.labels, "direction") == "tx" && !kWords[row].sent.empty();
  const auto [number, per, when] = amount(counter, sample_seconds);
  return fmt::format(fmt::runtime(sent ? kWords[row].sent : kWords[row].text), fmt::arg("n", number),
                     fmt::arg("per", per), fmt::arg("when", when),
                     fmt::arg("p", label_of(counter.labels, "priority")),
                     fmt::arg("share", share(counter, sample_seconds))) +
         remarks(counter);
}

bool is_said_by_time(const CounterFacts& counter, const std::vector<const CounterFacts*>& all) {
  if (counter.metric != kPfcFrames || label_of(counter.labels, "direction") == "tx") return false;
  return std::any_of(all.begin(), all.end(), [&](const CounterFacts* other) {
    return other->metric == kPauseSeconds && other->moved.value_or(0) > 0 &&
           label_of(other->labels, "direction") == "rx" &&
           label_of(other->labels, "priority") == label_of(counter.labels, "priority");
  });
}

std::string clauses_of(const std::vector<const CounterFacts*>& counters, double sample_seconds,
                       std::size_t at_most) {
  std::vector<const CounterFacts*> sorted;
  std::copy_if(counters.begin(), counters.end(), std::back_inserter(sorted),
               [&](const CounterFacts* counter) { return !is_said_by_time(*counter, counters); });
  std::stable_sort(sorted.begin(), sorted.end(), [&](const CounterFacts* one, const CounterFacts* other) {
    const auto key = [&](const CounterFacts& it) { return std::pair(!moves(it, sample_seconds), rank(it)); };
    return key(*one) < key(*other);
  });
  std::string text;
  std::size_t said = 0;
  for (const CounterFacts* counter : sorted) {
    const std::string clause = clause_of(*counter, sample_seconds);
    if (clause.empty() || said++ == at_most) break;
    text.append(text.empty() ? "" : "; ").append(clause);
  }
  return text;
}

Flow flow_of(const CounterFacts& counter) {
  const bool sent = label_of(counter.labels, "direction") == "tx";
  if (counter.metric == kDataBytes) return sent ? Flow::send_bytes : Flow::receive_bytes;
  if (counter.metric == kPauseSeconds) return sent ? Flow::pausing_fabric : Flow::paused_by_fabric;
  return Flow::none;
}

}  // namespace rdma_exporter::doctor
