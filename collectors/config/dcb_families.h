// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include "core/metric.h"

// Families of the collector dcb.
namespace rdma_exporter::collectors {

// clang-format off

inline constexpr core::MetricDesc kDcbPfcEnabled{
    "rdma_dcb_pfc_enabled", core::MetricType::gauge, "device,port,netdev,priority", "",
    "Whether priority flow control (PFC) is enabled for the priority, which makes its traffic lossless: 1 "
    "if so, else 0. The switch port must be configured the same way",
    "rtnetlink DCB IEEE_GET ieee_pfc.pfc_en"};
inline constexpr core::MetricDesc kDcbPfcMaxTrafficClasses{
    "rdma_dcb_pfc_max_traffic_classes", core::MetricType::gauge, "device,port,netdev", "traffic classes",
    "Number of traffic classes that the adapter can make lossless at the same time",
    "rtnetlink DCB IEEE_GET ieee_pfc.pfc_cap", core::MetricSet::full};
inline constexpr core::MetricDesc kDcbPfcDelay{
    "rdma_dcb_pfc_delay_bytes", core::MetricType::gauge, "device,port,netdev", "bytes",
    "Bytes that may still arrive after this host has told its peer to stop, for which its buffers must have "
    "room. Absent on mlx5, which stores a cable length in this field",
    "rtnetlink DCB IEEE_GET ieee_pfc.delay (bit times) / 8", core::MetricSet::full};
inline constexpr core::MetricDesc kDcbCableLength{
    "rdma_dcb_cable_length_meters", core::MetricType::gauge, "device,port,netdev", "meters",
    "Cable length in metres for which mlx5 sizes the headroom of lossless buffers. It is a setting, not a "
    "measurement",
    "rtnetlink DCB IEEE_GET ieee_pfc.delay of mlx5 (en_dcbnl.c)", core::MetricSet::full};
inline constexpr core::MetricDesc kDcbEtsWilling{
    "rdma_dcb_ets_willing", core::MetricType::gauge, "device,port,netdev", "",
    "Whether the host accepts its ETS configuration from the switch over DCBX: 1 if so, else 0",
    "rtnetlink DCB IEEE_GET ieee_ets.willing", core::MetricSet::full};
inline constexpr core::MetricDesc kDcbTrafficClasses{
    "rdma_dcb_ets_traffic_classes", core::MetricType::gauge, "device,port,netdev", "traffic classes",
    "Number of traffic classes that the adapter has",
    "rtnetlink DCB IEEE_GET ieee_ets.ets_cap", core::MetricSet::full};
inline constexpr core::MetricDesc kDcbEtsBandwidth{
    "rdma_dcb_ets_bandwidth_ratio", core::MetricType::gauge, "device,port,netdev,tc", "ratio",
    "Guaranteed share of the transmit bandwidth (0 to 1) of the traffic class. Only for traffic classes "
    "scheduled by ETS",
    "rtnetlink DCB IEEE_GET ieee_ets.tc_tx_bw / 100"};
inline constexpr core::MetricDesc kDcbTsa{
    "rdma_dcb_tsa_info", core::MetricType::gauge, "device,port,netdev,tc,tsa", "",
    "How the traffic class is scheduled; always 1. strict (before all others), ets (by share), credit_based "
    "or vendor",
    "rtnetlink DCB IEEE_GET ieee_ets.tc_tsa", core::MetricSet::full};
inline constexpr core::MetricDesc kDcbPriorityTc{
    "rdma_dcb_priority_tc", core::MetricType::gauge, "device,port,netdev,priority", "",
    "Number of the traffic class in which the priority is sent",
    "rtnetlink DCB IEEE_GET ieee_ets.prio_tc"};
inline constexpr core::MetricDesc kDcbApp{
    "rdma_dcb_app_info", core::MetricType::gauge, "device,port,netdev,selector,protocol,priority", "",
    "Entry of the DCB APP table, which assigns the traffic of a protocol to a priority; always 1. RoCE v2 "
    "is selector udp, protocol 4791; RoCE v1 is ethertype 0x8915; dscp maps a DSCP value",
    "rtnetlink DCB IEEE_GET dcb_app"};
inline constexpr core::MetricDesc kDcbTrust{
    "rdma_dcb_trust_info", core::MetricType::gauge, "device,port,netdev,trust,inferred", "",
    "What determines the priority of a received packet: dscp or pcp (VLAN tag); always 1. This is inferred, "
    "because no kernel interface reports it: dscp if the APP table has a DSCP entry. Wrong if firmware or a "
    "vendor tool has set it otherwise",
    "rtnetlink DCB IEEE_GET dcb_app"};
inline constexpr core::MetricDesc kDcbBuffer{
    "rdma_dcb_buffer_bytes", core::MetricType::gauge, "device,port,netdev,buffer", "bytes",
    "Size of a receive buffer of the port, in bytes. mlx5 only",
    "rtnetlink DCB IEEE_GET dcbnl_buffer.buffer_size", core::MetricSet::full};
inline constexpr core::MetricDesc kDcbPortBuffer{
    "rdma_dcb_port_buffer_bytes", core::MetricType::gauge, "device,port,netdev", "bytes",
    "Receive buffer memory of the port, shared by all buffers of rdma_dcb_buffer_bytes, in bytes. mlx5 only",
    "rtnetlink DCB IEEE_GET dcbnl_buffer.total_size", core::MetricSet::full};
inline constexpr core::MetricDesc kDcbPriorityBuffer{
    "rdma_dcb_priority_buffer", core::MetricType::gauge, "device,port,netdev,priority", "",
    "Number of the receive buffer in which the priority arrives. mlx5 only",
    "rtnetlink DCB IEEE_GET dcbnl_buffer.prio2buffer", core::MetricSet::full};
inline constexpr core::MetricDesc kDcbxInfo{
    "rdma_dcb_dcbx_info", core::MetricType::gauge, "device,port,netdev,mode", "",
    "DCBX mode flags that are set; always 1. host: software such as lldpad speaks DCBX; lld_managed: the "
    "adapter's firmware does; ieee, cee: protocol versions; static: nothing is negotiated",
    "rtnetlink DCB IEEE_GET DCB_ATTR_DCBX", core::MetricSet::full};

// clang-format on

}  // namespace rdma_exporter::collectors
