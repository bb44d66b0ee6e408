// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include "core/metric.h"

// Families of the collector dcb.
namespace rdma_exporter::collectors {

// clang-format off

inline constexpr core::MetricDesc kDcbPfcEnabled{
    "rdma_dcb_pfc_enabled", core::MetricType::gauge, "netdev,priority", "",
    "1 if priority flow control is on for the priority, so that its traffic is lossless, else 0. The switch port "
    "has to agree",
    "rtnetlink DCB IEEE_GET ieee_pfc.pfc_en"};
inline constexpr core::MetricDesc kDcbPfcCapability{
    "rdma_dcb_pfc_capability", core::MetricType::gauge, "netdev", "traffic classes",
    "Traffic classes that the adapter can make lossless at the same time",
    "rtnetlink DCB IEEE_GET ieee_pfc.pfc_cap"};
inline constexpr core::MetricDesc kDcbPfcDelay{
    "rdma_dcb_pfc_delay_bytes", core::MetricType::gauge, "netdev", "bytes",
    "Bytes that may still arrive after this host asked its peer to stop, for which the buffers must have room. Not "
    "of mlx5, which keeps a cable length in its place",
    "rtnetlink DCB IEEE_GET ieee_pfc.delay (bit times) / 8"};
inline constexpr core::MetricDesc kDcbCableLength{
    "rdma_dcb_cable_length_meters", core::MetricType::gauge, "netdev", "meters",
    "Length of the cable for which mlx5 sizes the headroom of lossless buffers; a setting, not a measurement",
    "rtnetlink DCB IEEE_GET ieee_pfc.delay of mlx5 (en_dcbnl.c)"};
inline constexpr core::MetricDesc kDcbPfcFrames{
    "rdma_dcb_pfc_frames_total", core::MetricType::counter, "netdev,priority,direction", "frames",
    "PFC frames by priority as DCB counts them. rx (indications): this host is told to stop sending. tx "
    "(requests): this host tells its switch to stop, because it is slow itself. Only of drivers that fill them: "
    "mlx5, bnxt_en, ice, i40e. On mlx5 they stand still unless somebody reads the driver statistics (ethtool -S, "
    "collector ethtool)",
    "rtnetlink DCB IEEE_GET ieee_pfc.indications, requests"};
inline constexpr core::MetricDesc kDcbEtsWilling{
    "rdma_dcb_ets_willing", core::MetricType::gauge, "netdev", "",
    "1 if the host takes its ETS configuration from the switch by DCBX, else 0",
    "rtnetlink DCB IEEE_GET ieee_ets.willing"};
inline constexpr core::MetricDesc kDcbTrafficClasses{
    "rdma_dcb_ets_traffic_classes", core::MetricType::gauge, "netdev", "traffic classes",
    "Traffic classes that the adapter has",
    "rtnetlink DCB IEEE_GET ieee_ets.ets_cap"};
inline constexpr core::MetricDesc kDcbEtsBandwidth{
    "rdma_dcb_ets_bandwidth_ratio", core::MetricType::gauge, "netdev,tc", "ratio",
    "Share of the transmit bandwidth that the traffic class is guaranteed; only of classes scheduled by ETS",
    "rtnetlink DCB IEEE_GET ieee_ets.tc_tx_bw / 100"};
inline constexpr core::MetricDesc kDcbTsa{
    "rdma_dcb_tsa_info", core::MetricType::gauge, "netdev,tc,tsa", "",
    "Always 1; how the traffic class is scheduled: strict (before all others), ets (by share), credit_based, "
    "vendor",
    "rtnetlink DCB IEEE_GET ieee_ets.tc_tsa"};
inline constexpr core::MetricDesc kDcbPriorityTc{
    "rdma_dcb_priority_tc", core::MetricType::gauge, "netdev,priority", "",
    "Number of the traffic class that the priority is sent in",
    "rtnetlink DCB IEEE_GET ieee_ets.prio_tc"};
inline constexpr core::MetricDesc kDcbApp{
    "rdma_dcb_app_info", core::MetricType::gauge, "netdev,selector,protocol,priority", "",
    "Always 1; entry of the APP table: traffic of the protocol goes to the priority. RoCE v2 is selector udp, "
    "protocol 4791; RoCE v1 is ethertype 0x8915; dscp maps a DSCP value",
    "rtnetlink DCB IEEE_GET dcb_app"};
inline constexpr core::MetricDesc kDcbTrust{
    "rdma_dcb_trust_info", core::MetricType::gauge, "netdev,trust,inferred", "",
    "Always 1; by what a received packet gets its priority: dscp or pcp (VLAN tag). Inferred, no kernel interface "
    "tells it: dscp if the APP table has a DSCP entry. Wrong where firmware or a vendor tool set it",
    "rtnetlink DCB IEEE_GET dcb_app"};
inline constexpr core::MetricDesc kDcbBuffer{
    "rdma_dcb_buffer_bytes", core::MetricType::gauge, "netdev,buffer", "bytes",
    "Size of a receive buffer of the port; mlx5 only",
    "rtnetlink DCB IEEE_GET dcbnl_buffer.buffer_size"};
inline constexpr core::MetricDesc kDcbPortBuffer{
    "rdma_dcb_port_buffer_bytes", core::MetricType::gauge, "netdev", "bytes",
    "Receive buffer memory of the port for all of rdma_dcb_buffer_bytes; mlx5 only",
    "rtnetlink DCB IEEE_GET dcbnl_buffer.total_size"};
inline constexpr core::MetricDesc kDcbPriorityBuffer{
    "rdma_dcb_priority_buffer", core::MetricType::gauge, "netdev,priority", "",
    "Number of the receive buffer that the priority arrives in; mlx5 only",
    "rtnetlink DCB IEEE_GET dcbnl_buffer.prio2buffer"};
inline constexpr core::MetricDesc kDcbxMode{
    "rdma_dcb_dcbx_mode", core::MetricType::gauge, "netdev,mode", "",
    "1 for what is set of the DCBX mode: host (software such as lldpad speaks DCBX), lld_managed (the adapter's "
    "firmware does), ieee, cee (versions), static (nobody negotiates)",
    "rtnetlink DCB IEEE_GET DCB_ATTR_DCBX"};

// clang-format on

}  // namespace rdma_exporter::collectors
