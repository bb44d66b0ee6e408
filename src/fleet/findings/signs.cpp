// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "fleet/findings/signs.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>

#include "fleet/names.h"

namespace rdma_exporter::fleet {
namespace {

constexpr std::size_t kRows = 200;   // rows of a table for each rail, which few_of_rail() counts
constexpr double kFewOfRail = 0.05;  // if more are affected, it is load and not a straggler
constexpr std::size_t kFew = 4;      // as many may be affected in a small fleet
constexpr double kIdle = 0.05;       // share of line rate; a host that sends less says nothing about balance
constexpr double kBalanced = 0.8;    // share of the average of the host's NICs

const std::vector<std::string> kPort{"instance", "device", "port"};

struct Sign {
  std::string_view kind;
  Severity severity;
  bool outlier;  // means something only where few NICs of the rail have it
  std::string (*expression)(const PromQl&, const std::string& shard);  // nullptr: ask_rare_signs()
  std::string_view text;                                               // with the value
  std::string_view next;
};

std::string more(std::string_view matchers, const std::string& shard) {
  return fmt::format("{}{}{}", matchers, shard.empty() || matchers.empty() ? "" : ",", shard);
}

std::string above(const std::string& series, double limit) {
  return fmt::format("topk by (device) ({}, sum by (instance, device, port) ({}) > {})", kRows, series,
                     limit);
}

// A healthy fleet needs no further query.
std::string any_down(const PromQl& ql, const std::string& shard) {
  return fmt::format("count by (device) ({} == 0)", ql.series(names::kPortUp, shard));
}
// A port that should be up: down, and not because somebody switched it off.
std::string down(const PromQl& ql, const std::string& shard) {
  return fmt::format("topk by (device) ({}, {} == 0 unless on (job, instance, device, port) {} == 3)", kRows,
                     ql.series(names::kPortUp, shard), ql.series(names::kPhysicalState, shard));
}
std::string uncorrectable(const PromQl& ql, const std::string& shard) {
  return above(ql.increase(names::kFecBlocks, more(R"(result="uncorrectable")", shard)), 10);
}
std::string flaps(const PromQl& ql, const std::string& shard) {
  return above(ql.increase(names::kLinkDowned, shard), 1.5);
}
std::string carrier(const PromQl& ql, const std::string& shard) {
  return above(ql.increase(names::kCarrierChanges, more(R"(to="down")", shard)), 1.5);
}
std::string retransmits(const PromQl& ql, const std::string& shard) {
  return above(ql.rate(names::kRetransmitted, more(R"(scope="all")", shard)), 10);
}
std::string timeouts(const PromQl& ql, const std::string& shard) {
  return above(ql.rate(names::kAckTimeouts, shard), 1);
}
std::string naks(const PromQl& ql, const std::string& shard) {
  return above(ql.rate(names::kSequenceNaks, more(R"(direction="rx")", shard)), 10);
}
std::string discards(const PromQl& ql, const std::string& shard) {
  return above(ql.rate(names::kDiscards, more(R"(direction="rx")", shard)), 10);
}
std::string notified(const PromQl& ql, const std::string& shard) {
  return above(ql.rate(names::kCnp, more(R"(direction="rx")", shard)), 10'000);
}
// Collectives keep the rails of a host in step: one that carries less has failed over, or is placed
// otherwise.
std::string balance(const PromQl& ql) {
  const std::string sent = ql.rate(names::kDataBytes, R"(direction="tx")");
  return fmt::format(
      "topk by (device) ({0}, {1} / on (job, instance) group_left () "
      "(avg by (job, instance) ({1}) > {2} * avg by (job, instance) ({3})) < {4})",
      kRows, sent, kIdle, ql.series(names::kRate), kBalanced);
}
std::string objects(const PromQl& ql, const std::string& shard) {
  return fmt::format("topk by (device) ({}, max by (instance, device, type) ({} / ({} > 0) > 0.8))", kRows,
                     ql.series(names::kObjects, shard), ql.series(names::kObjectsLimit, shard));
}

constexpr std::string_view kLook = "ssh {} rdma_exporter doctor";
constexpr std::string_view kCable = "its cable, module and switch port; ssh {} rdma_exporter doctor";
constexpr std::array kSigns{
    Sign{"port_down", Severity::warning, true, nullptr, "the port is down", kCable},
    Sign{"link_errors", Severity::warning, true, uncorrectable, "{:.0f} blocks were beyond repair", kCable},
    Sign{"link_flaps", Severity::warning, true, flaps, "the link went down {:.0f} times", kCable},
    Sign{"carrier_flaps", Severity::warning, true, carrier, "the carrier was lost {:.0f} times", kCable},
    Sign{"retransmits", Severity::warning, true, retransmits, "{:.0f} packets per second are retransmitted",
         kLook},
    Sign{"ack_timeouts", Severity::warning, true, timeouts, "{:.1f} acknowledgements per second time out",
         kLook},
    Sign{"sequence_naks", Severity::warning, true, naks, "peers miss {:.0f} of its packets per second",
         kLook},
    Sign{"discards", Severity::warning, true, discards, "{:.0f} packets per second are dropped on arrival",
         kLook},
    Sign{"slowed_down", Severity::info, true, notified,
         "{:.0f} congestion notifications per second slow it down", kLook},
    Sign{"unbalanced", Severity::warning, true, nullptr,
         "it sends {:.2f} of what the NICs of the host send on average",
         "failed over, or placed otherwise? ssh {} rdma_exporter doctor"},
    Sign{"resources_low", Severity::warning, false, objects, "{:.2f} of its objects are in use",
         "ssh {} rdma_exporter report: who has them"},
};

// What packets that are lost leave in the counters of a port.
constexpr std::array<std::string_view, 3> kLosses{"retransmits", "ack_timeouts", "sequence_naks"};

// The rows of NICs whose rail has only a few such rows. If many have them, it is the load.
std::vector<Row> few_of_rail(const Sign& sign, const std::vector<Row>& rows, const Hosts& hosts) {
  if (!sign.outlier) return rows;
  std::map<std::string, std::size_t> counts;
  for (const Row& row : rows) ++counts[row.cells[1]];
  std::vector<Row> few;
  for (const Row& row : rows) {
    const auto rail = hosts.rails().find(row.cells[1]);
    const double size = rail == hosts.rails().end() ? 0 : static_cast<double>(rail->second);
    const std::size_t count = counts[row.cells[1]];
    if (count <= kFew || (count < kRows && static_cast<double>(count) < kFewOfRail * size))
      few.push_back(row);
  }
  return few;
}

bool same_nic(const Problem& problem, const Row& row) {
  return problem.component.instance == row.cells[0] &&
         (problem.component.device == row.cells[1] || problem.component.kind == "host");
}

// A NIC that is already blamed: further signs are evidence.
bool add_to_blamed(const Row& row, const Evidence& evidence, Analysis& out) {
  for (Problem& problem : out.problems) {
    if (problem.severity == Severity::info || !same_nic(problem, row)) continue;
    problem.evidence.push_back(evidence);
    return true;
  }
  return false;
}

}  // namespace

void ask_signs(const PromQl& ql, Plan& plan) {
  for (const Sign& sign : kSigns)
    if (sign.expression != nullptr)
      ql.add_sharded(plan, std::string(sign.kind), {"instance", "device", sign.outlier ? "port" : "type"},
                     [&](const std::string& shard) { return sign.expression(ql, shard); });
  ql.add_sharded(plan, "any_down", {"device"}, [&](const std::string& shard) { return any_down(ql, shard); });
  plan.push_back({"unbalanced", balance(ql), kPort});
}

void ask_recordable_signs(const PromQl& ql, Plan& plan) {
  ask_signs(ql, plan);
  plan.push_back({"port_down", down(ql, ""), kPort});
}

void ask_rare_signs(const PromQl& ql, const Tables& tables, Plan& plan) {
  for (const Row& row : tables.rows("any_down"))
    plan.push_back({"port_down", down(ql, "device=" + in_quotes(row.cells[0])), kPort});
}

void find_signs(const Hosts& hosts, const Tables& tables, Analysis& out) {
  for (const Sign& sign : kSigns) {
    const std::string table(sign.kind);
    for (const Row& row : few_of_rail(sign, tables.rows(table), hosts)) {
      const std::string host = host_part(row.cells[0]);
      const std::string text = fmt::format(fmt::runtime(sign.text), row.value);
      if (add_to_blamed(row, {text, table, row.value}, out)) continue;
      Problem problem;
      problem.kind = table;
      problem.severity = sign.severity;
      problem.confidence = 0.7;
      problem.component = {"nic", hosts.unit_of(row.cells[0]), row.cells[0], row.cells[1],
                           sign.outlier ? row.cells[2] : ""};
      problem.detail = sign.outlier ? "" : row.cells[2];
      problem.title = fmt::format("{} of {}: {}", row.cells[1], host, text);
      problem.blast = {{}, 1, 1};
      problem.evidence.push_back({text, table, row.value});
      if (sign.outlier) problem.excluded = {"the load: other NICs of the rail do not have it"};
      problem.next = fmt::format(fmt::runtime(sign.next), host);
      out.problems.push_back(std::move(problem));
    }
  }
}

std::set<std::pair<std::string, std::string>> losing_by_counters(const Hosts& hosts, const Tables& tables) {
  std::set<std::pair<std::string, std::string>> nics;
  for (const Sign& sign : kSigns)
    if (std::find(kLosses.begin(), kLosses.end(), sign.kind) != kLosses.end())
      for (const Row& row : few_of_rail(sign, tables.rows(sign.kind), hosts))
        nics.insert({row.cells[0], row.cells[1]});
  return nics;
}

std::vector<std::string> sign_tables() {
  std::vector<std::string> all{"any_down"};
  for (const Sign& sign : kSigns) all.emplace_back(sign.kind);
  return all;
}

}  // namespace rdma_exporter::fleet
