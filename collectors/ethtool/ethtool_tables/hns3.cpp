// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// drivers/net/ethernet/hisilicon/hns3/hns3pf/hclge_main.c. Times (*_xoff_time) have no documented unit and
// stay raw.
#include <array>

#include "collectors/ethtool/ethtool_tables/row.h"
#include "collectors/ethtool/ethtool_tables/tables.h"

namespace rdma_exporter::collectors::ethtool_table {
namespace {

constexpr std::array kRows{
    curated("mac_rx_pfc_pri#_pkt_num", kPfcFrames, kRxPriority),
    curated("mac_tx_pfc_pri#_pkt_num", kPfcFrames, kTxPriority),
    raw_only("mac_rx_pfc_pri#_xoff_time"),
    raw_only("mac_tx_pfc_pri#_xoff_time"),
    raw_only("mac_rx_pfc_pkt_num"),  // all priorities together
    raw_only("mac_tx_pfc_pkt_num"),
    curated("mac_rx_mac_pause_num", kNetdevPauseFrames, kRx),
    curated("mac_tx_mac_pause_num", kNetdevPauseFrames, kTx),
    raw_only("mac_rx_pause_xoff_time"),
    raw_only("mac_tx_pause_xoff_time"),
};
static_assert(all_valid(kRows));
static_assert(count_addends(kRows) == 0);

}  // namespace

std::span<const CounterRow> hns3() { return kRows; }

}  // namespace rdma_exporter::collectors::ethtool_table
