// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// drivers/net/ethernet/intel/i40e/i40e_ethtool.c. Names with port. are the port's. XON and XOFF frames are
// counted separately; time is not counted.
#include <array>

#include "collectors/ethtool/ethtool_tables/row.h"
#include "collectors/ethtool/ethtool_tables/tables.h"

namespace rdma_exporter::collectors::ethtool_table {
namespace {

constexpr std::array kRows{
    curated("port.rx_priority_#_xon_rx", kPfcFrames, kRxPriority),
    curated("port.rx_priority_#_xoff_rx", kPfcFrames, kRxPriority),
    curated("port.tx_priority_#_xon_tx", kPfcFrames, kTxPriority),
    curated("port.tx_priority_#_xoff_tx", kPfcFrames, kTxPriority),
    curated("port.rx_priority_#_xon_2_xoff", kPfcTransitions, kRxPriority),
    curated("port.link_xon_rx", kNetdevPauseFrames, kRx),
    curated("port.link_xoff_rx", kNetdevPauseFrames, kRx),
    curated("port.link_xon_tx", kNetdevPauseFrames, kTx),
    curated("port.link_xoff_tx", kNetdevPauseFrames, kTx),
    curated("port.rx_discards", kNetdevDiscards, kRxPortBuffer),
    curated("port.tx_dropped_link_down", kNetdevDiscards, kTxLinkDown),
};
static_assert(all_valid(kRows));
static_assert(count_addends(kRows) == 8);

}  // namespace

std::span<const CounterRow> i40e() { return kRows; }

}  // namespace rdma_exporter::collectors::ethtool_table
