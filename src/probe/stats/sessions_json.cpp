// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/stats/sessions_json.h"

#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/seconds.h"

namespace rdma_exporter::probe {
namespace {

using Json = nlohmann::ordered_json;

constexpr unsigned kSchema = 1;

Json causes(const std::map<std::pair<Stage, std::string_view>, std::uint64_t>& counts) {
  auto list = Json::array();
  for (const auto& [cause, count] : counts)
    list.push_back({{"stage", to_string(cause.first)}, {"reason", cause.second}, {"count", count}});
  return list;
}

Json operation(const OpStats& stats) {
  Json json{{"attempts", stats.attempts},
            {"successes", stats.successes},
            {"failures", causes(stats.failures)},
            {"overruns", stats.overruns},
            {"retransmits_suspected", stats.retransmits}};
  if (stats.successes == 0) return json;
  json["last_rtt_seconds"] = core::seconds(stats.last);
  json["last_success_timestamp_seconds"] = stats.last_success;
  if (const auto least = stats.least.get(Clock::now())) json["min_rtt_seconds"] = core::seconds(*least);
  return json;
}

Json connection(const SessionFacts& facts) {
  Json json{{"op", to_string(facts.op)},
            {"clock", to_string(facts.clock)},
            {"connect", facts.transport == Transport::rdma_cm ? "rdma_cm" : "verbs"},
            {"local_address", facts.local_address},
            {"peer_address", facts.peer_address},
            {"peer_device", facts.peer_device}};
  if (facts.path_mtu != 0) json["path_mtu"] = facts.path_mtu;
  if (facts.udp_source_port != 0) json["udp_source_port"] = facts.udp_source_port;
  return json;
}

Json session(const Registry::Series& series, bool rotating) {
  const TargetStats::Snapshot now = series.stats->snapshot();
  Json json{{"device", series.device},
            {"port", series.port},
            {"target", series.target},
            {"flow", series.flow},
            {"rotating", rotating}};
  if (now.state) json["state"] = kStates[static_cast<std::size_t>(*now.state)];
  if (now.up) json["up"] = *now.up;
  if (now.last_failure)
    json["last_failure"] = {{"stage", to_string(now.last_failure->stage)},
                            {"reason", now.last_failure->reason}};
  if (now.facts) json["connection"] = connection(*now.facts);
  auto operations = Json::object();
  for (const Op op : {Op::write, Op::read, Op::echo})
    if (const OpStats& stats = now.ops[static_cast<std::size_t>(op)]; stats.attempts != 0)
      operations[std::string(to_string(op))] = operation(stats);
  json["operations"] = std::move(operations);
  json["control_failures"] = causes(now.control_failures);
  json["connects"] = now.connects;
  return json;
}

Json sources(const Registry::Contents& contents) {
  auto list = Json::array();
  for (const auto& source : contents.sources) {
    Json json{{"kind", source.kind}, {"source", source.name}, {"failing", source.failing}};
    if (source.known) json["targets"] = source.targets;
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace

std::string sessions_json(const Registry::Contents& contents) {
  auto sessions = Json::array();
  // A sum has no target, so it is not a session.
  for (const auto& series : contents.series)
    if (!series.target.empty()) sessions.push_back(session(series, false));
  for (const auto& series : contents.rotating) sessions.push_back(session(series, true));
  auto inbound = Json::object();
  if (contents.responder)
    for (const auto& nic : contents.nics) inbound[nic->device] = nic->inbound_sessions.load();
  Json document{{"schema", kSchema},
                {"active", contents.active},
                {"targets", {{"active", contents.active_targets}, {"dropped", contents.dropped_targets}}},
                {"sources", sources(contents)},
                {"sessions", std::move(sessions)},
                {"inbound_sessions", std::move(inbound)}};
  if (contents.mesh_member) document["mesh_member"] = *contents.mesh_member;
  return document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

}  // namespace rdma_exporter::probe
