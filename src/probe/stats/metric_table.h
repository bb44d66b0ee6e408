// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <string_view>

#include "core/metric.h"

/// The families of the probe, as listed in docs/METRICS.md.
namespace rdma_exporter::probe::families {

inline constexpr std::string_view kSource = "docs/PROBE.md";

inline constexpr core::MetricDesc kRtt{
    "rdma_probe_rtt_seconds",
    core::MetricType::histogram,
    "device,port,target,target_group,op,clock",
    "seconds",
    "Round-trip time in seconds of RC verbs operations between this port and a peer. The peer's adapter "
    "answers write and read; its process answers echo. Measured by the clock of this host or, for reads "
    "only, of its adapter (clock=\"nic\"). With more targets than probe.histogram_targets, each target group "
    "is one series with an empty target. With probe.mesh, all devices share it, with an empty device and "
    "port",
    kSource};
inline constexpr core::MetricDesc kResponderDelay{
    "rdma_probe_responder_delay_seconds",
    core::MetricType::histogram,
    "device,port,target_group",
    "seconds",
    "Time in seconds that the peer's process took to answer an echo after noticing it, by the peer's clock. "
    "Part of the round-trip time of op=\"echo\". Time spent waiting for a CPU before that is not included; "
    "see rdma_probe_host_delay_seconds",
    kSource};
inline constexpr core::MetricDesc kColdRtt{
    "rdma_probe_cold_rtt_seconds",
    core::MetricType::histogram,
    "device,port,target_group",
    "seconds",
    "Round-trip time in seconds of the one-sided operation that precedes each recorded one. It shows what a "
    "message sees after a pause, with cold caches and sleeping links",
    kSource,
    core::MetricSet::full};
inline constexpr core::MetricDesc kAttempts{
    "rdma_probe_attempts_total",
    core::MetricType::counter,
    "device,port,target,flow,op",
    "operations",
    "Operations that were due, including those due while a path failure prevented a connection. Each becomes "
    "a success or a failure. Rotating targets share one series with an empty target and flow",
    kSource};
inline constexpr core::MetricDesc kFailures{
    "rdma_probe_failures_total",
    core::MetricType::counter,
    "device,port,target,flow,op,stage,reason",
    "operations",
    "Operations that failed because of the path or of one of its two ports, by the stage they reached and "
    "the reason: a completion status, an errno name, deadline or not_connected; see docs/PROBE.md",
    kSource};
inline constexpr core::MetricDesc kControlFailures{
    "rdma_probe_control_failures_total",
    core::MetricType::counter,
    "device,port,target,flow,stage,reason",
    "operations",
    "Failures of the control connection, which may use another network: operations that could not be sent "
    "because there was no control connection, and interruptions while operations went on. They say nothing "
    "about the RDMA path",
    kSource};
inline constexpr core::MetricDesc kOverruns{
    "rdma_probe_overruns_total",
    core::MetricType::counter,
    "device,port,op",
    "operations",
    "Number of times an operation was due while the previous one was still outstanding",
    kSource,
    core::MetricSet::full};
inline constexpr core::MetricDesc kRetransmits{
    "rdma_probe_retransmit_suspected_total",
    core::MetricType::counter,
    "device,port,target,flow,op",
    "operations",
    "Successful one-sided operations (echoes where there are no others), including those that precede "
    "recorded ones, that took at least 1 ms and at least 20 times as long as usual. RC hides a lost packet "
    "behind a retransmission",
    kSource};
inline constexpr core::MetricDesc kUp{
    "rdma_probe_up",
    core::MetricType::gauge,
    "device,port,target,flow",
    "",
    "Whether the last one-sided operation succeeded: 1 if so, 0 if it failed or could not be sent. Based on "
    "echo if the peer accepts nothing else. Absent before the first operation",
    kSource};
inline constexpr core::MetricDesc kLastRtt{
    "rdma_probe_last_rtt_seconds",
    core::MetricType::gauge,
    "device,port,target,flow,op",
    "seconds",
    "Round-trip time of the last successful one-sided operation (echo where "
    "there is no other), in seconds",
    kSource,
    core::MetricSet::full};
inline constexpr core::MetricDesc kLastSuccess{"rdma_probe_last_success_timestamp_seconds",
                                               core::MetricType::gauge,
                                               "device,port,target,flow,op",
                                               "seconds",
                                               "Time of the last successful operation, in seconds since 1970",
                                               kSource,
                                               core::MetricSet::full};
inline constexpr core::MetricDesc kMinRtt{
    "rdma_probe_min_rtt_seconds",
    core::MetricType::gauge,
    "device,port,target,flow,op",
    "seconds",
    "Lowest round-trip time of one-sided operations (echoes where there are no others) in the last five "
    "minutes, in seconds. A step means that the path has changed",
    kSource};
inline constexpr core::MetricDesc kHostDelay{
    "rdma_probe_host_delay_seconds",
    core::MetricType::gauge,
    "device,port,target,flow",
    "seconds",
    "Extra time of an echo over a one-sided operation, in seconds, as a difference of moving averages: "
    "interrupts, scheduling and processes of both hosts, plus a second traversal of the path",
    kSource,
    core::MetricSet::full};
inline constexpr core::MetricDesc kSamples{
    "rdma_probe_samples_total",
    core::MetricType::counter,
    "device,port,wait",
    "operations",
    "Successful operations by what their round-trip time includes. wait=\"event\": an interrupt and a "
    "wake-up; preempted: time that this host's thread spent on something else; spin: neither",
    kSource,
    core::MetricSet::full};
inline constexpr core::MetricDesc kConnects{"rdma_probe_connects_total",
                                            core::MetricType::counter,
                                            "device,port",
                                            "connects",
                                            "Attempts to establish a connection",
                                            kSource};
inline constexpr core::MetricDesc kConnectTime{
    "rdma_probe_connect_seconds",
    core::MetricType::histogram,
    "device,port,target_group,step",
    "seconds",
    "Duration in seconds of each step of connections that were established: tcp includes name resolution, "
    "tls is the TLS handshake, exchange creates the queue pairs of both ends, modify connects the local one",
    kSource,
    core::MetricSet::full};
inline constexpr core::MetricDesc kSessions{
    "rdma_probe_sessions",
    core::MetricType::gauge,
    "device,port,state",
    "sessions",
    "Number of sessions by state. Each flow to a target has one session",
    kSource,
    core::MetricSet::full};
inline constexpr core::MetricDesc kSessionInfo{
    "rdma_probe_session_info",
    core::MetricType::gauge,
    "device,port,target,flow,op,clock,connect,path_mtu,udp_source_port,local_address,peer_address,peer_"
    "device",
    "",
    "Connection in use by a session; always 1. udp_source_port: source port of the flow's packets, by which "
    "switches choose its path. op: one-sided operation that the peer accepts, or echo. clock: what measures "
    "it, host or nic. connect: verbs or rdma_cm",
    kSource,
    core::MetricSet::full};
inline constexpr core::MetricDesc kTargetInfo{
    "rdma_probe_target_info",
    core::MetricType::gauge,
    "device,port,target,target_group,target_leaf,target_rail",
    "",
    "Location of a target, from the labels leaf and rail of its discovery entry; always 1. Only for targets "
    "that stay and have at least one of the two labels",
    kSource};
inline constexpr core::MetricDesc kQps{"rdma_probe_qps",
                                       core::MetricType::gauge,
                                       "device,role",
                                       "queue pairs",
                                       "Number of queue pairs of the probe. role=\"requester\": for sessions "
                                       "of this host; responder: for sessions of its peers",
                                       kSource};
inline constexpr core::MetricDesc kQpsLimit{"rdma_probe_qps_limit",
                                            core::MetricType::gauge,
                                            "device",
                                            "queue pairs",
                                            "Highest number of queue pairs of the probe, both roles together",
                                            kSource,
                                            core::MetricSet::full};
inline constexpr core::MetricDesc kTargets{"rdma_probe_targets",
                                           core::MetricType::gauge,
                                           "state",
                                           "targets",
                                           "Number of targets, counted once for each local port, by state: "
                                           "active, or dropped because of the queue pair limit",
                                           kSource};
inline constexpr core::MetricDesc kRate{
    "rdma_probe_rate_multiplier_ratio",
    core::MetricType::gauge,
    "device",
    "ratio",
    "Probe rate relative to the configured rate. Below 1 if the configured rate would exceed "
    "probe.max_probes_per_second or cost more than probe.max_cpu_percent",
    kSource};
inline constexpr core::MetricDesc kInbound{
    "rdma_probe_inbound_sessions",
    core::MetricType::gauge,
    "device",
    "sessions",
    "Number of sessions of peers that this host answers, including suspended ones",
    kSource,
    core::MetricSet::full};
inline constexpr core::MetricDesc kInboundSuspended{
    "rdma_probe_inbound_suspended_sessions",
    core::MetricType::gauge,
    "",
    "sessions",
    "Number of peer sessions whose control connection broke. They are kept for 15 minutes, for one minute "
    "after the peer is heard from again, or until others need the room",
    kSource,
    core::MetricSet::full};
inline constexpr core::MetricDesc kEchoReplies{"rdma_probe_echo_replies_total",
                                               core::MetricType::counter,
                                               "device",
                                               "operations",
                                               "Echo requests of peers that this host answered",
                                               kSource,
                                               core::MetricSet::full};
inline constexpr core::MetricDesc kInboundRejected{
    "rdma_probe_inbound_rejected_total",
    core::MetricType::counter,
    "reason",
    "connections",
    "Connections to the responder that did not become a session, by reason",
    kSource,
    core::MetricSet::full};

inline constexpr core::MetricDesc kAsyncEvents{
    "rdma_probe_async_events_total",
    core::MetricType::counter,
    "device,event",
    "events",
    "Asynchronous events received by the probe: those of its own queue pairs, which nobody else receives, "
    "and those of the device and its ports",
    "ibv_get_async_event",
    core::MetricSet::full};
inline constexpr core::MetricDesc kMeshMember{
    "rdma_probe_mesh_member",
    core::MetricType::gauge,
    "",
    "",
    "Whether this host is listed in probe.mesh: 1 if so; 0 if not, and then it probes nobody",
    kSource};
inline constexpr core::MetricDesc kSdTargets{
    "rdma_probe_sd_targets",
    core::MetricType::gauge,
    "kind,source",
    "targets",
    "Number of targets that a service discovery source lists, before this host selects some of them",
    kSource};
inline constexpr core::MetricDesc kSdLastSuccess{
    "rdma_probe_sd_last_success_timestamp_seconds",
    core::MetricType::gauge,
    "kind,source",
    "seconds",
    "Time at which a service discovery source was last read successfully, in seconds since 1970",
    kSource,
    core::MetricSet::full};
inline constexpr core::MetricDesc kSdFailures{
    "rdma_probe_sd_failures_total",
    core::MetricType::counter,
    "kind,source,reason",
    "readings",
    "Failed reads of service discovery files, names or URLs. The targets known before remain in use",
    kSource};

inline constexpr std::array kFamilies{&kRtt,         &kResponderDelay,  &kColdRtt,
                                      &kAttempts,    &kFailures,        &kControlFailures,
                                      &kOverruns,    &kRetransmits,     &kUp,
                                      &kLastRtt,     &kLastSuccess,     &kMinRtt,
                                      &kHostDelay,   &kSamples,         &kConnects,
                                      &kConnectTime, &kAsyncEvents,     &kSessions,
                                      &kSessionInfo, &kTargetInfo,      &kQps,
                                      &kQpsLimit,    &kTargets,         &kRate,
                                      &kInbound,     &kEchoReplies,     &kInboundRejected,
                                      &kSdTargets,   &kSdLastSuccess,   &kSdFailures,
                                      &kMeshMember,  &kInboundSuspended};

constexpr bool all_valid_pointers() {
  for (const core::MetricDesc* family : kFamilies)
    if (!core::valid(*family)) return false;
  return true;
}
static_assert(all_valid_pointers());

}  // namespace rdma_exporter::probe::families
