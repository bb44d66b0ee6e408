// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Families of the collector `resource`. `space` is "user" or "kernel"; what the other labels can be stands in
// HELP.
#pragma once

#include <span>

#include "core/metric.h"

namespace rdma_exporter::collectors {

// A family is one line of name, type, labels and unit, then its help, then its source.
// clang-format off

// On every scrape.

inline constexpr core::MetricDesc kResourceObjects{
    "rdma_resource_objects", core::MetricType::gauge, "device,type", "objects",
    "Objects that the device has now, of all ports, processes and the kernel: pd, cq, qp, cm_id, mr, ctx,"
    " srq; what alerts should use",
    "RDMA netlink RES_GET"};
inline constexpr core::MetricDesc kResourceLimit{
    "rdma_resource_objects_limit", core::MetricType::gauge, "device,type", "objects",
    "Objects of this type that the device can have; absent where it does not say",
    "RDMA netlink RES_GET; ibv_query_device"};
inline constexpr core::MetricDesc kOptionalCounters{
    "rdma_port_optional_counters_enabled", core::MetricType::gauge, "device,port,counter", "",
    "1 if this optional hw counter counts, 0 if it exists and nobody has enabled it (rdma statistic set)",
    "RDMA netlink STAT_GET_STATUS"};

// How the tables of objects fare.

inline constexpr core::MetricDesc kDetailEnabled{
    "rdma_resource_detail_enabled", core::MetricType::gauge, "device,reason", "",
    "1 if tables of objects are dumped; 0 if not, with the reason: off (configured), kernel (not known to"
    " be safe), ib_core (not the kernel's own)",
    "collectors/resource/resource.cpp"};
inline constexpr core::MetricDesc kDetailAge{
    "rdma_resource_detail_age_seconds", core::MetricType::gauge, "device,table", "seconds",
    "Time since this table was last dumped completely; its values are that old",
    "src/core/background.h"};
inline constexpr core::MetricDesc kDumpDuration{
    "rdma_resource_dump_duration_seconds", core::MetricType::gauge, "device,table", "seconds",
    "Time that the last dump of this table took, complete or not",
    "collectors/resource/resource_pass.cpp"};
inline constexpr core::MetricDesc kDumpErrors{
    "rdma_resource_dump_errors_total", core::MetricType::counter, "device,table,reason", "dumps",
    "Dumps that failed; the values of the last complete one stay. Reason is the errno name, parse, or "
    "stalled (the dump went on without end)",
    "collectors/resource/resource_pass.cpp"};
inline constexpr core::MetricDesc kDumpTruncated{
    "rdma_resource_dump_truncated", core::MetricType::gauge, "device,table,reason", "",
    "1 if the last dump of this table was not made or not finished because of a limit: max_qps, "
    "max_entries, timeout; else 0",
    "collectors/resource/resource_pass.cpp"};

// What the tables tell.

inline constexpr core::MetricDesc kQps{
    "rdma_resource_qps", core::MetricType::gauge, "device,port,qp_type,state,space", "queue pairs",
    "Queue pairs by type and state (RESET, INIT, RTR, RTS, SQD, SQE, ERR), of user space or the kernel; "
    "port is empty before INIT. iWARP drivers may leave connected ones in RESET",
    "RDMA netlink RES_QP_GET"};
inline constexpr core::MetricDesc kMrs{
    "rdma_resource_mrs", core::MetricType::gauge, "device,space", "memory regions",
    "Memory regions of user space or the kernel",
    "RDMA netlink RES_MR_GET"};
inline constexpr core::MetricDesc kMrBytes{
    "rdma_resource_mr_bytes", core::MetricType::gauge, "device,space", "bytes",
    "Bytes registered in memory regions; overlapping regions count twice, and regions of the whole "
    "address space (implicit on-demand paging) do not count",
    "RDMA netlink RES_MR_GET"};
inline constexpr core::MetricDesc kCqs{
    "rdma_resource_cqs", core::MetricType::gauge, "device,space", "completion queues",
    "Completion queues of user space or the kernel",
    "RDMA netlink RES_CQ_GET"};
inline constexpr core::MetricDesc kCqEntries{
    "rdma_resource_cq_entries", core::MetricType::gauge, "device,space", "completions",
    "Completions that all completion queues together can hold",
    "RDMA netlink RES_CQ_GET"};
inline constexpr core::MetricDesc kCqUsers{
    "rdma_resource_cq_users", core::MetricType::gauge, "device,space", "uses",
    "Uses of completion queues by queue pairs (one for sending, one for receiving) and shared receive "
    "queues",
    "RDMA netlink RES_CQ_GET"};
inline constexpr core::MetricDesc kCmIds{
    "rdma_resource_cm_ids", core::MetricType::gauge, "device,port_space,state", "connection ids",
    "Connection identifiers of the RDMA connection manager by state (LISTEN, CONNECT, ...) and port space"
    " (TCP, UDP, IB, IPOIB)",
    "RDMA netlink RES_CM_ID_GET"};
inline constexpr core::MetricDesc kSrqs{
    "rdma_resource_srqs", core::MetricType::gauge, "device,srq_type", "shared receive queues",
    "Shared receive queues by type: BASIC, XRC, TM (tag matching)",
    "RDMA netlink RES_SRQ_GET"};

// Whose the objects are.

inline constexpr core::MetricDesc kOwnerQps{
    "rdma_resource_owner_qps", core::MetricType::gauge, "device,owner_kind,owner,container", "queue pairs",
    "Queue pairs by owner",
    "RDMA netlink RES_QP_GET; /proc/PID/cgroup, comm"};
inline constexpr core::MetricDesc kOwnerMrs{
    "rdma_resource_owner_mrs", core::MetricType::gauge, "device,owner_kind,owner,container", "memory regions",
    "Memory regions by owner",
    "RDMA netlink RES_MR_GET; /proc/PID/cgroup, comm"};
inline constexpr core::MetricDesc kOwnerMrBytes{
    "rdma_resource_owner_mr_bytes", core::MetricType::gauge, "device,owner_kind,owner,container", "bytes",
    "Bytes in memory regions by owner: pod (owner is its UID), slurm_job, container, systemd_unit, "
    "process (name), kernel (module), self (this exporter), unknown, other (beyond owners_top)",
    "RDMA netlink RES_MR_GET; /proc/PID/cgroup, comm"};
inline constexpr core::MetricDesc kOwnerCqs{
    "rdma_resource_owner_cqs", core::MetricType::gauge, "device,owner_kind,owner,container", "completion queues",
    "Completion queues by owner",
    "RDMA netlink RES_CQ_GET; /proc/PID/cgroup, comm"};
inline constexpr core::MetricDesc kOwnerContexts{
    "rdma_resource_owner_contexts", core::MetricType::gauge, "device,owner_kind,owner,container", "contexts",
    "Times that the device is open, by owner",
    "RDMA netlink RES_CTX_GET; /proc/PID/cgroup, comm"};
inline constexpr core::MetricDesc kUnattributed{
    "rdma_resource_objects_unattributed", core::MetricType::gauge, "device,reason", "objects",
    "Queue pairs, memory regions, completion queues and contexts of owner_kind unknown: no_pid (the owner is "
    "dead, or in a PID namespace that is not ours), gone (no such process now), else the errno name",
    "RDMA netlink; /proc"};

// Statistics that drivers keep of single objects.

inline constexpr core::MetricDesc kQpStatistic{
    "rdma_qp_statistic_total", core::MetricType::counter, "device,port,qp_type,counter", "",
    "Counters of sets of queue pairs that somebody has made with rdma statistic qp, added up by type of queue"
    " pair. A part of the port's counters, not in addition",
    "RDMA netlink STAT_GET"};
inline constexpr core::MetricDesc kQpStatisticQps{
    "rdma_qp_statistic_qps", core::MetricType::gauge, "device,port,qp_type", "queue pairs",
    "Queue pairs that are counted in such sets now",
    "RDMA netlink STAT_GET"};
inline constexpr core::MetricDesc kOdpStatistic{
    "rdma_odp_statistic_total", core::MetricType::counter, "device,event", "",
    "On-demand paging of all memory regions: page_faults, page_invalidations, page_prefetch; mlx5 only",
    "RDMA netlink STAT_GET"};

// clang-format on

/// All of them, in the order of the page.
std::span<const core::MetricDesc* const> resource_families();

}  // namespace rdma_exporter::collectors
