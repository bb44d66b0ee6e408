// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// drivers/net/ethernet/pensando/ionic/ionic_stats.c. PFC frames are not counted by priority; pause time is,
// in microseconds.
#include <array>

#include "collectors/ethtool/ethtool_tables/row.h"
#include "collectors/ethtool/ethtool_tables/tables.h"

namespace rdma_exporter::collectors::ethtool_table {
namespace {

constexpr std::array kRows{
    curated("frames_rx_pripause", kPfcFrames, kRxAllPriorities),
    curated("frames_tx_pripause", kPfcFrames, kTxAllPriorities),
    microseconds("rx_pripause_#_1us_count", kPfcPauseSeconds, kRxPriority),
    microseconds("tx_pripause_#_1us_count", kPfcPauseSeconds, kTxPriority),
    curated("frames_rx_pause", kNetdevPauseFrames, kRx),
    curated("frames_tx_pause", kNetdevPauseFrames, kTx),
    microseconds("rx_pause_1us_count", kPauseSeconds, kRx),
    curated("frames_rx_pri_#", kPriorityPackets, kRxPriority),
    curated("frames_tx_pri_#", kPriorityPackets, kTxPriority),
    curated("frames_rx_dropped", kNetdevDiscards, kRxPort),
    curated("hw_rx_over_errors", kNetdevDiscards, kRxNoReceiveBuffer),  // rx_queue_empty of the firmware
    raw_only("hw_rx_dropped"),  // of the function, for any reason: includes the above
};
static_assert(all_valid(kRows));
static_assert(count_addends(kRows) == 0);

}  // namespace

std::span<const CounterRow> ionic() { return kRows; }

}  // namespace rdma_exporter::collectors::ethtool_table
