// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Families of the collector `resource`. `space` is "user" or "kernel"; HELP lists the values of the other
// labels.
#pragma once

#include <span>

#include "core/metric.h"

namespace rdma_exporter::collectors {

// Each family is one line of name, type, labels and unit, then its help, then its source.
// clang-format off

// On every scrape.

inline constexpr core::MetricDesc kResourceObjects{
    "rdma_resource_objects", core::MetricType::gauge, "device,type", "objects",
    "Number of objects that the device has, over all ports, processes and the kernel. type is pd, cq, qp, "
    "cm_id, mr, ctx or srq. Alerts should use this family",
    "RDMA netlink RES_GET"};
inline constexpr core::MetricDesc kResourceLimit{
    "rdma_resource_objects_limit", core::MetricType::gauge, "device,type", "objects",
    "Number of objects of this type that the device can have. Absent if the device does not report a limit",
    "RDMA netlink RES_GET; ibv_query_device"};
inline constexpr core::MetricDesc kOptionalCounters{
    "rdma_port_optional_counters_enabled", core::MetricType::gauge, "device,port,counter", "",
    "Whether this optional hardware counter is counting: 1 if so, 0 if it exists but has not been enabled "
    "(rdma statistic set)",
    "RDMA netlink STAT_GET_STATUS",
    core::MetricSet::full};

// Condition of the detail: whether it is enabled, its age, truncated and failed dumps.

inline constexpr core::MetricDesc kDetailEnabled{
    "rdma_resource_detail_enabled", core::MetricType::gauge, "device,reason", "",
    "Whether the exporter dumps tables of objects: 1 if so, else 0 with the reason: off (configuration), "
    "kernel (not known to be safe) or ib_core (not the kernel's own module). At 0, states and owners of queue "
    "pairs and all else from these tables are absent. That is the default on a kernel whose fixes cannot be "
    "proved, such as those of Ubuntu, RHEL and SUSE (docs/RESOURCES.md)",
    "collectors/resource/resource.cpp"};
inline constexpr core::MetricDesc kDetailAge{
    "rdma_resource_detail_age_seconds", core::MetricType::gauge, "device,table", "seconds",
    "Time in seconds since this table was last dumped completely. Its values are that old",
    "src/task/background.h",
    core::MetricSet::full};
inline constexpr core::MetricDesc kDumpDuration{
    "rdma_resource_dump_duration_seconds", core::MetricType::gauge, "device,table", "seconds",
    "Duration of the last dump of this table in seconds, whether complete or not",
    "collectors/resource/resource_pass.cpp",
    core::MetricSet::full};
inline constexpr core::MetricDesc kDumpErrors{
    "rdma_resource_dump_errors_total", core::MetricType::counter, "device,table,reason", "dumps",
    "Number of failed dumps; the values of the last complete dump remain in use. reason is the errno name, "
    "parse, or stalled (the dump did not end)",
    "collectors/resource/resource_pass.cpp"};
inline constexpr core::MetricDesc kDumpTruncated{
    "rdma_resource_dump_truncated", core::MetricType::gauge, "device,table,reason", "",
    "Whether a limit prevented the last dump of this table or cut it short: 1 if so, else 0. reason is the "
    "limit: max_qps, max_entries or timeout",
    "collectors/resource/resource_pass.cpp"};

// From the tables of objects.

inline constexpr core::MetricDesc kQps{
    "rdma_resource_qps", core::MetricType::gauge, "device,port,qp_type,state,space", "queue pairs",
    "Number of queue pairs by type, state (RESET, INIT, RTR, RTS, SQD, SQE, ERR) and space (user or "
    "kernel). port is empty before INIT. iWARP drivers may leave connected queue pairs in RESET. Absent "
    "while rdma_resource_detail_enabled is 0",
    "RDMA netlink RES_QP_GET"};
inline constexpr core::MetricDesc kMrs{
    "rdma_resource_mrs", core::MetricType::gauge, "device,space", "memory regions",
    "Number of memory regions by space (user or kernel)",
    "RDMA netlink RES_MR_GET",
    core::MetricSet::full};
inline constexpr core::MetricDesc kMrBytes{
    "rdma_resource_mr_bytes", core::MetricType::gauge, "device,space", "bytes",
    "Bytes registered in memory regions, by space (user or kernel). Overlapping regions are counted twice; "
    "regions that span the whole address space (implicit on-demand paging) are not counted",
    "RDMA netlink RES_MR_GET"};
inline constexpr core::MetricDesc kCqs{
    "rdma_resource_cqs", core::MetricType::gauge, "device,space", "completion queues",
    "Number of completion queues by space (user or kernel)",
    "RDMA netlink RES_CQ_GET",
    core::MetricSet::full};
inline constexpr core::MetricDesc kCqEntries{
    "rdma_resource_cq_entries", core::MetricType::gauge, "device,space", "completions",
    "Total capacity of all completion queues, in completions",
    "RDMA netlink RES_CQ_GET",
    core::MetricSet::full};
inline constexpr core::MetricDesc kCqUsers{
    "rdma_resource_cq_users", core::MetricType::gauge, "device,space", "uses",
    "References to completion queues from queue pairs (one for sending, one for receiving) and shared "
    "receive queues",
    "RDMA netlink RES_CQ_GET",
    core::MetricSet::full};
inline constexpr core::MetricDesc kCmIds{
    "rdma_resource_cm_ids", core::MetricType::gauge, "device,port_space,state", "connection ids",
    "Number of connection identifiers of the RDMA connection manager, by state (LISTEN, CONNECT, ...) and "
    "port space (TCP, UDP, IB, IPOIB)",
    "RDMA netlink RES_CM_ID_GET"};
inline constexpr core::MetricDesc kSrqs{
    "rdma_resource_srqs", core::MetricType::gauge, "device,srq_type", "shared receive queues",
    "Number of shared receive queues by type: BASIC, XRC or TM (tag matching)",
    "RDMA netlink RES_SRQ_GET"};

// Owners of the objects.

inline constexpr core::MetricDesc kOwnerQps{
    "rdma_resource_owner_qps", core::MetricType::gauge, "device,owner_kind,owner,container", "queue pairs",
    "Number of queue pairs by owner. For owner_kind see rdma_resource_owner_mr_bytes. Absent while "
    "rdma_resource_detail_enabled is 0",
    "RDMA netlink RES_QP_GET; /proc/PID/cgroup, comm"};
inline constexpr core::MetricDesc kOwnerMrs{
    "rdma_resource_owner_mrs", core::MetricType::gauge, "device,owner_kind,owner,container", "memory regions",
    "Number of memory regions by owner. For owner_kind see rdma_resource_owner_mr_bytes. Absent while "
    "rdma_resource_detail_enabled is 0",
    "RDMA netlink RES_MR_GET; /proc/PID/cgroup, comm"};
inline constexpr core::MetricDesc kOwnerMrBytes{
    "rdma_resource_owner_mr_bytes", core::MetricType::gauge, "device,owner_kind,owner,container", "bytes",
    "Bytes registered in memory regions, by owner. owner_kind is pod (owner is its UID), slurm_job, "
    "container, systemd_unit, process (name), kernel (module), self (this exporter), unknown, or other "
    "(beyond owners_top)",
    "RDMA netlink RES_MR_GET; /proc/PID/cgroup, comm"};
inline constexpr core::MetricDesc kOwnerCqs{
    "rdma_resource_owner_cqs", core::MetricType::gauge, "device,owner_kind,owner,container", "completion queues",
    "Number of completion queues by owner. For owner_kind see rdma_resource_owner_mr_bytes",
    "RDMA netlink RES_CQ_GET; /proc/PID/cgroup, comm",
    core::MetricSet::full};
inline constexpr core::MetricDesc kOwnerContexts{
    "rdma_resource_owner_contexts", core::MetricType::gauge, "device,owner_kind,owner,container", "contexts",
    "Number of times the device is open, by owner. For owner_kind see rdma_resource_owner_mr_bytes",
    "RDMA netlink RES_CTX_GET; /proc/PID/cgroup, comm",
    core::MetricSet::full};
inline constexpr core::MetricDesc kUnattributed{
    "rdma_resource_objects_unattributed", core::MetricType::gauge, "device,reason", "objects",
    "Number of queue pairs, memory regions, completion queues and contexts with owner_kind=\"unknown\". "
    "reason is no_pid (the owner is dead or in a PID namespace that the exporter cannot see), gone (the "
    "process no longer exists), or an errno name",
    "RDMA netlink; /proc"};

// Statistics that drivers keep for single objects.

inline constexpr core::MetricDesc kQpStatistic{
    "rdma_resource_qp_statistic_total", core::MetricType::counter, "device,port,qp_type,counter", "",
    "Counters of queue pair sets created with `rdma statistic qp`, summed by queue pair type. They are part "
    "of the port's counters, not in addition to them",
    "RDMA netlink STAT_GET"};
inline constexpr core::MetricDesc kQpStatisticQps{
    "rdma_resource_qp_statistic_qps", core::MetricType::gauge, "device,port,qp_type", "queue pairs",
    "Number of queue pairs currently in counter sets created with `rdma statistic qp`",
    "RDMA netlink STAT_GET"};
inline constexpr core::MetricDesc kOdpStatistic{
    "rdma_resource_odp_statistic_total", core::MetricType::counter, "device,event", "",
    "On-demand paging events of all memory regions: page_faults, page_invalidations, page_prefetch. mlx5 "
    "only",
    "RDMA netlink STAT_GET"};

// clang-format on

/// All of them, in the order of the page.
std::span<const core::MetricDesc* const> resource_families();

}  // namespace rdma_exporter::collectors
