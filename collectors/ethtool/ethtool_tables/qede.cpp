// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// drivers/net/ethernet/qlogic/qede/qede_ethtool.c. Nothing is counted by priority.
#include <array>

#include "collectors/ethtool/ethtool_tables/row.h"
#include "collectors/ethtool/ethtool_tables/tables.h"

namespace rdma_exporter::collectors::ethtool_table {
namespace {

constexpr std::array kRows{
    curated("rx_pfc_frames", kPfcFrames, kRxAllPriorities),
    curated("tx_pfc_frames", kPfcFrames, kTxAllPriorities),
    curated("rx_pause_frames", kNetdevPauseFrames, kRx),
    curated("tx_pause_frames", kNetdevPauseFrames, kTx),
    curated("brb_discards", kNetdevDiscards, kRxPortBuffer),
    curated("no_buff_discards", kNetdevDiscards, kRxNoReceiveBuffer),
    raw_only("brb_truncates"),      // truncated, not dropped
    raw_only("link_change_count"),  // both up and down
};
static_assert(all_valid(kRows));
static_assert(count_addends(kRows) == 0);

}  // namespace

std::span<const CounterRow> qede() { return kRows; }

}  // namespace rdma_exporter::collectors::ethtool_table
