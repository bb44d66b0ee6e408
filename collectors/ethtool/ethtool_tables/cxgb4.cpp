// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// drivers/net/ethernet/chelsio/cxgb4/cxgb4_ethtool.c; names are without the driver's padding of blanks. The
// second half of its list ("octets_ok", "frames_dropped", ...) is the loopback port and stays raw.
#include <array>

#include "collectors/ethtool/ethtool_tables/row.h"
#include "collectors/ethtool/ethtool_tables/tables.h"

namespace rdma_exporter::collectors::ethtool_table {
namespace {

constexpr std::array kRows{
    curated("rx_ppp#_frames", kPfcFrames, kRxPriority),
    curated("tx_ppp#_frames", kPfcFrames, kTxPriority),
    curated("rx_pause_frames", kNetdevPauseFrames, kRx),
    curated("tx_pause_frames", kNetdevPauseFrames, kTx),
    curated("rx_bg0_frames_dropped", kNetdevDiscards, kRxPortBuffer),  // four groups of buffers of the port
    curated("rx_bg1_frames_dropped", kNetdevDiscards, kRxPortBuffer),
    curated("rx_bg2_frames_dropped", kNetdevDiscards, kRxPortBuffer),
    curated("rx_bg3_frames_dropped", kNetdevDiscards, kRxPortBuffer),
    curated("tx_frames_dropped", kNetdevDiscards, kTxPort),
    raw_only("rx_symbol_errors"),  // frames with symbol errors, not symbols
};
static_assert(all_valid(kRows));
static_assert(count_addends(kRows) == 4);

}  // namespace

std::span<const CounterRow> cxgb4() { return kRows; }

}  // namespace rdma_exporter::collectors::ethtool_table
