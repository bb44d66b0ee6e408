// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// drivers/net/ethernet/intel/ice/ice_ethtool.c. Names with .nic are the port's, others the function's. XON
// and XOFF frames are counted separately; time is not counted.
#include <array>

#include "collectors/ethtool/ethtool_tables/row.h"
#include "collectors/ethtool/ethtool_tables/tables.h"

namespace rdma_exporter::collectors::ethtool_table {
namespace {

constexpr std::array kRows{
    curated("rx_priority_#_xon.nic", kPfcFrames, kRxPriority),
    curated("rx_priority_#_xoff.nic", kPfcFrames, kRxPriority),
    curated("tx_priority_#_xon.nic", kPfcFrames, kTxPriority),
    curated("tx_priority_#_xoff.nic", kPfcFrames, kTxPriority),
    curated("link_xon_rx.nic", kNetdevPauseFrames, kRx),
    curated("link_xoff_rx.nic", kNetdevPauseFrames, kRx),
    curated("link_xon_tx.nic", kNetdevPauseFrames, kTx),
    curated("link_xoff_tx.nic", kNetdevPauseFrames, kTx),
    curated("rx_dropped.nic", kNetdevDiscards, kRxPortBuffer),
    curated("rx_dropped", kNetdevDiscards, kRxNoReceiveBuffer),
    curated("tx_dropped_link_down.nic", kNetdevDiscards, kTxLinkDown),
};
static_assert(all_valid(kRows));
static_assert(count_addends(kRows) == 8);

}  // namespace

std::span<const CounterRow> ice() { return kRows; }

}  // namespace rdma_exporter::collectors::ethtool_table
