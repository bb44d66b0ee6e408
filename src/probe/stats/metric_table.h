// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <string_view>

#include "core/metric.h"

/// The families of the probe, as docs/METRICS.md shows them.
namespace rdma_exporter::probe::families {

inline constexpr std::string_view kSource = "docs/PROBE.md";

inline constexpr core::MetricDesc kRtt{
    "rdma_probe_rtt_seconds",
    core::MetricType::histogram,
    "device,port,target,target_group,op,clock",
    "seconds",
    "Round trip of RC verbs operations between this port and a peer; write and read are "
    "answered by the peer's adapter, echo by its process. By the clock of this host, or of its adapter (nic, "
    "reads only). With more targets than probe.histogram_targets all of a group are one series, target is "
    "empty",
    kSource};
inline constexpr core::MetricDesc kResponderDelay{
    "rdma_probe_responder_delay_seconds",
    core::MetricType::histogram,
    "device,port,target_group",
    "seconds",
    "Time the peer's process took for an echo, by the peer's own clock: a part "
    "of the round trip of op=echo",
    kSource};
inline constexpr core::MetricDesc kAttempts{
    "rdma_probe_attempts_total",
    core::MetricType::counter,
    "device,port,target,op",
    "operations",
    "Operations that were due, also while there was no connection; each becomes a "
    "success or a failure. All targets that rotate are one, target is empty",
    kSource};
inline constexpr core::MetricDesc kFailures{
    "rdma_probe_failures_total",
    core::MetricType::counter,
    "device,port,target,op,stage,reason",
    "operations",
    "Operations that came to nothing, by how far they got and why: the completion "
    "status, an errno name, deadline, not_connected; see docs/PROBE.md",
    kSource};
inline constexpr core::MetricDesc kOverruns{
    "rdma_probe_overruns_total",
    core::MetricType::counter,
    "device,port,target,op",
    "operations",
    "Times that an operation was due while the one before was still out",
    kSource};
inline constexpr core::MetricDesc kRetransmits{
    "rdma_probe_retransmit_suspected_total",
    core::MetricType::counter,
    "device,port,target,op",
    "operations",
    "Successes that took 1 ms and 20 times the usual at least: RC hides a lost "
    "packet behind a retransmission",
    kSource};
inline constexpr core::MetricDesc kUp{
    "rdma_probe_up",
    core::MetricType::gauge,
    "device,port,target",
    "",
    "1 if the last one-sided operation (of an echo-only probe: the last echo) worked, 0 if "
    "it failed; absent before the first one",
    kSource};
inline constexpr core::MetricDesc kLastRtt{"rdma_probe_last_rtt_seconds",
                                           core::MetricType::gauge,
                                           "device,port,target,op",
                                           "seconds",
                                           "Round trip of the last operation that worked",
                                           kSource};
inline constexpr core::MetricDesc kLastSuccess{"rdma_probe_last_success_timestamp_seconds",
                                               core::MetricType::gauge,
                                               "device,port,target,op",
                                               "seconds",
                                               "When the last operation worked, in seconds since 1970",
                                               kSource};
inline constexpr core::MetricDesc kMinRtt{
    "rdma_probe_min_rtt_seconds",
    core::MetricType::gauge,
    "device,port,target,op",
    "seconds",
    "Least round trip of the last five minutes: a step says that the path changed",
    kSource};
inline constexpr core::MetricDesc kHostDelay{
    "rdma_probe_host_delay_seconds",
    core::MetricType::gauge,
    "device,port,target",
    "seconds",
    "What an echo takes beyond a one-sided operation, as moving averages: the two "
    "hosts' share of the way",
    kSource};
inline constexpr core::MetricDesc kSamples{
    "rdma_probe_samples_total",
    core::MetricType::counter,
    "device,port,target,wait",
    "operations",
    "Successes by what their round trip includes: event an interrupt and a wake-up, spin neither",
    kSource};
inline constexpr core::MetricDesc kConnects{"rdma_probe_connects_total",
                                            core::MetricType::counter,
                                            "device,port,target",
                                            "connects",
                                            "Attempts to bring a connection about",
                                            kSource};
inline constexpr core::MetricDesc kConnectTime{
    "rdma_probe_connect_seconds",
    core::MetricType::histogram,
    "device,port,target_group,step",
    "seconds",
    "What the steps of connections took that came about: tcp with the name, auth is TLS, exchange makes both "
    "ends' queue pairs, modify connects the own end",
    kSource};
inline constexpr core::MetricDesc kSessions{"rdma_probe_sessions",
                                            core::MetricType::gauge,
                                            "device,port,target,state",
                                            "sessions",
                                            "Connections to the target, one for each flow, by state",
                                            kSource};
inline constexpr core::MetricDesc kSessionInfo{
    "rdma_probe_session_info",
    core::MetricType::gauge,
    "device,port,target,op,clock,connect,path_mtu,udp_source_port,local_address,peer_address,peer_device",
    "",
    "Always 1; the connection in use, of the first flow that is up. op: the one-sided operation that the "
    "peer takes, or echo; clock: what measures it, host or nic; connect: verbs or rdma_cm",
    kSource};
inline constexpr core::MetricDesc kQps{
    "rdma_probe_qps",
    core::MetricType::gauge,
    "device,role",
    "queue pairs",
    "Queue pairs of the probe: requester for this host's sessions, responder for its "
    "peers'",
    kSource};
inline constexpr core::MetricDesc kQpsLimit{"rdma_probe_qps_limit",
                                            core::MetricType::gauge,
                                            "device",
                                            "queue pairs",
                                            "Most queue pairs of both roles together",
                                            kSource};
inline constexpr core::MetricDesc kTargets{
    "rdma_probe_targets",
    core::MetricType::gauge,
    "state",
    "targets",
    "Targets, counted for each own port: active ones, and those dropped because of the "
    "limit of queue pairs",
    kSource};
inline constexpr core::MetricDesc kRate{
    "rdma_probe_rate_multiplier_ratio",
    core::MetricType::gauge,
    "device",
    "ratio",
    "Rate of the probes relative to the configured one; below 1 when that would be more "
    "than probe.max_probes_per_second or cost more than probe.max_cpu_percent",
    kSource};
inline constexpr core::MetricDesc kInbound{"rdma_probe_inbound_sessions",
                                           core::MetricType::gauge,
                                           "device",
                                           "sessions",
                                           "Sessions of peers that this host answers",
                                           kSource};
inline constexpr core::MetricDesc kEchoReplies{"rdma_probe_echo_replies_total",
                                               core::MetricType::counter,
                                               "device",
                                               "operations",
                                               "Echoes of peers that were answered",
                                               kSource};
inline constexpr core::MetricDesc kInboundRejected{
    "rdma_probe_inbound_rejected_total",
    core::MetricType::counter,
    "reason",
    "connections",
    "Connections to the responder that came to no session, by reason",
    kSource};

inline constexpr core::MetricDesc kAsyncEvents{
    "rdma_probe_async_events_total",
    core::MetricType::counter,
    "device,event",
    "events",
    "Asynchronous events that the probe got: those of its own queue pairs, of which nobody else is told, and "
    "those of the device and its ports",
    "ibv_get_async_event"};
inline constexpr core::MetricDesc kSdTargets{
    "rdma_probe_sd_targets",
    core::MetricType::gauge,
    "kind,source",
    "targets",
    "Targets that a source of discovery has, before this host chooses some of them",
    kSource};
inline constexpr core::MetricDesc kSdLastSuccess{
    "rdma_probe_sd_last_success_timestamp_seconds",
    core::MetricType::gauge,
    "kind,source",
    "seconds",
    "When a source of discovery was last read without a failure, in seconds since 1970",
    kSource};
inline constexpr core::MetricDesc kSdFailures{
    "rdma_probe_sd_failures_total",
    core::MetricType::counter,
    "kind,source,reason",
    "readings",
    "Files, names or URLs of discovery that could not be read; the targets known before stay",
    kSource};

inline constexpr std::array kFamilies{
    &kRtt,       &kResponderDelay, &kAttempts,    &kFailures, &kOverruns,    &kRetransmits,
    &kUp,        &kLastRtt,        &kLastSuccess, &kMinRtt,   &kHostDelay,   &kSamples,
    &kConnects,  &kConnectTime,    &kAsyncEvents, &kSessions, &kSessionInfo, &kQps,
    &kQpsLimit,  &kTargets,        &kRate,        &kInbound,  &kEchoReplies, &kInboundRejected,
    &kSdTargets, &kSdLastSuccess,  &kSdFailures};

constexpr bool all_valid_pointers() {
  for (const core::MetricDesc* family : kFamilies)
    if (!core::valid(*family)) return false;
  return true;
}
static_assert(all_valid_pointers());

}  // namespace rdma_exporter::probe::families
