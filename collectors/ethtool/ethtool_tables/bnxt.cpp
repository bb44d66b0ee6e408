// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// drivers/net/ethernet/broadcom/bnxt/bnxt_ethtool.c, bnxt_hsi.h. The port's statistics are those of the
// physical function. The adapter writes them to memory about once a second, so reading them needs no firmware
// command.
#include <array>

#include "collectors/ethtool/ethtool_tables/row.h"
#include "collectors/ethtool/ethtool_tables/tables.h"

namespace rdma_exporter::collectors::ethtool_table {
namespace {

constexpr std::array kRows{
    curated("rx_pfc_ena_frames_pri#", kPfcFrames, kRxPriority),
    curated("tx_pfc_ena_frames_pri#", kPfcFrames, kTxPriority),
    microseconds("pfc_pri#_rx_duration_us", kPfcPauseSeconds, kRxPriority),
    microseconds("pfc_pri#_tx_duration_us", kPfcPauseSeconds, kTxPriority),
    curated("pfc_pri#_rx_transitions", kPfcTransitions, kRxPriority),
    curated("pfc_pri#_tx_transitions", kPfcTransitions, kTxPriority),
    raw_only("rx_pfc_frames"),  // a frame for several priorities counts once here, but in each of the above
    raw_only("tx_pfc_frames"),
    curated("rx_pause_frames", kNetdevPauseFrames, kRx),
    curated("tx_pause_frames", kNetdevPauseFrames, kTx),
    curated("continuous_pause_events", kPauseStormEvents, kWarning),
    curated("continuous_roce_pause_events", kPauseStormEvents, kError),  // PFC of the RoCE queue switched off
    raw_only("resume_pause_events"),                                     // the ends of the two above
    raw_only("resume_roce_pause_events"),

    // Counts of the queue to which the firmware maps the priority. The same queues by their own number stay
    // raw.
    curated("rx_bytes_pri#", kPriorityBytes, kRxPriority),
    curated("tx_bytes_pri#", kPriorityBytes, kTxPriority),
    curated("rx_packets_pri#", kPriorityPackets, kRxPriority),
    curated("tx_packets_pri#", kPriorityPackets, kTxPriority),

    curated("rx_stat_discard", kNetdevDiscards, kRxPort),
    curated("tx_stat_discard", kNetdevDiscards, kTxPort),
    curated("rx_total_ring_discards", kNetdevDiscards, kRxNoReceiveBuffer),
    curated("rx_total_oom_discards", kNetdevDiscards, kRxNoMemory),
    curated("tx_total_ring_discards", kNetdevDiscards, kTxRing),
    curated("rx_buffer_passed_threshold", kReceiveBufferThresholdEvents),

    curated("rx_corrected_bits", kNetdevFecCorrectedBitErrors),
    curated("rx_fec_corrected_blocks", kNetdevFecBlocks, R"(result="corrected")"),
    curated("rx_fec_uncorrectable_blocks", kNetdevFecBlocks, R"(result="uncorrectable")"),
    curated("rx_pcs_symbol_err", kNetdevSymbolErrors),
    curated("link_down_events", kNetdevLinkDownEvents),
};
static_assert(all_valid(kRows));
static_assert(count_addends(kRows) == 0);

}  // namespace

std::span<const CounterRow> bnxt() { return kRows; }

}  // namespace rdma_exporter::collectors::ethtool_table
