// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// drivers/net/ethernet/mellanox/mlx4/en_ethtool.c. Durations are in microseconds according to the vendor's
// description of the counters. The driver lists only the kind of flow control (PFC or link) that is on.
#include <array>

#include "collectors/ethtool/ethtool_tables/row.h"
#include "collectors/ethtool/ethtool_tables/tables.h"

namespace rdma_exporter::collectors::ethtool_table {
namespace {

constexpr std::array kRows{
    curated("rx_pause_prio_#", kPfcFrames, kRxPriority),
    curated("tx_pause_prio_#", kPfcFrames, kTxPriority),
    microseconds("rx_pause_duration_prio_#", kPfcPauseSeconds, kRxPriority),
    microseconds("tx_pause_duration_prio_#", kPfcPauseSeconds, kTxPriority),
    curated("rx_pause_transition_prio_#", kPfcTransitions, kRxPriority),
    curated("tx_pause_transition_prio_#", kPfcTransitions, kTxPriority),
    curated("rx_pause", kNetdevPauseFrames, kRx),
    curated("tx_pause", kNetdevPauseFrames, kTx),
    microseconds("rx_pause_duration", kPauseSeconds, kRx),
    microseconds("tx_pause_duration", kPauseSeconds, kTx),
    curated("rx_pause_transition", kPauseTransitions, kRx),
    curated("tx_pause_transition", kPauseTransitions, kTx),
    curated("rx_prio_#_bytes", kPriorityBytes, kRxPriority),
    curated("tx_prio_#_bytes", kPriorityBytes, kTxPriority),
    curated("rx_prio_#_packets", kPriorityPackets, kRxPriority),
    curated("tx_prio_#_packets", kPriorityPackets, kTxPriority),
};
static_assert(all_valid(kRows));
static_assert(count_addends(kRows) == 0);

}  // namespace

std::span<const CounterRow> mlx4() { return kRows; }

}  // namespace rdma_exporter::collectors::ethtool_table
