// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// net/ethtool/stats.c, pause.c, fec.c, linkstate.c.
#include "collectors/ethtool/ethtool_standard_table.h"

#include <algorithm>
#include <array>

#include "collectors/counters/tables/row.h"
#include "host/ethtool/genl_ethtool.h"

namespace rdma_exporter::collectors {
namespace {

using table::curated;
using table::kRx;
using table::kTx;
using table::raw_only;

constexpr std::array kRows{
    curated("SymbolErrorDuringCarrier", kNetdevSymbolErrors),
    curated("FramesTransmittedOK", kNetdevMacFrames, kTx),
    // Half duplex only, which RDMA adapters do not support.
    raw_only("SingleCollisionFrames"),
    raw_only("MultipleCollisionFrames"),
    curated("FramesReceivedOK", kNetdevMacFrames, kRx),
    curated("FrameCheckSequenceErrors", kNetdevMacErrors, R"(direction="rx",error="fcs")"),
    curated("AlignmentErrors", kNetdevMacErrors, R"(direction="rx",error="alignment")"),
    curated("OctetsTransmittedOK", kNetdevMacBytes, kTx),
    raw_only("FramesWithDeferredXmissions"),
    raw_only("LateCollisions"),
    raw_only("FramesAbortedDueToXSColls"),
    curated("FramesLostDueToIntMACXmitError", kNetdevMacErrors, R"(direction="tx",error="internal")"),
    raw_only("CarrierSenseErrors"),
    curated("OctetsReceivedOK", kNetdevMacBytes, kRx),
    curated("FramesLostDueToIntMACRcvError", kNetdevMacErrors, R"(direction="rx",error="internal")"),
    // Parts of the total number of frames.
    raw_only("MulticastFramesXmittedOK"),
    raw_only("BroadcastFramesXmittedOK"),
    raw_only("FramesWithExcessiveDeferral"),
    raw_only("MulticastFramesReceivedOK"),
    raw_only("BroadcastFramesReceivedOK"),
    curated("InRangeLengthErrors", kNetdevMacErrors, R"(direction="rx",error="in_range_length")"),
    curated("OutOfRangeLengthField", kNetdevMacErrors, R"(direction="rx",error="out_of_range_length")"),
    curated("FrameTooLongErrors", kNetdevMacErrors, R"(direction="rx",error="too_long")"),
    curated("MACControlFramesTransmitted", kNetdevMacControlFrames, kTx),
    curated("MACControlFramesReceived", kNetdevMacControlFrames, kRx),
    curated("UnsupportedOpcodesReceived", kNetdevMacErrors, R"(direction="rx",error="unsupported_opcode")"),
    curated("etherStatsUndersizePkts", kNetdevRmonErrors, R"(error="undersize")"),
    curated("etherStatsOversizePkts", kNetdevRmonErrors, R"(error="oversize")"),
    curated("etherStatsFragments", kNetdevRmonErrors, R"(error="fragment")"),
    curated("etherStatsJabbers", kNetdevRmonErrors, R"(error="jabber")"),
    curated("tx_pause_frames", kNetdevPauseFrames, kTx),
    curated("rx_pause_frames", kNetdevPauseFrames, kRx),
    curated("corrected_blocks", kNetdevFecBlocks, R"(result="corrected")"),
    curated("uncorrectable_blocks", kNetdevFecBlocks, R"(result="uncorrectable")"),
    curated("corrected_bits", kNetdevFecCorrectedBitErrors),
    curated("link_down_events", kNetdevLinkDownEvents, {}, 32),
};
static_assert(std::all_of(kRows.begin(), kRows.end(), [](const CounterRow& row) {
  if (row.metric == nullptr) return row.labels.empty();
  return row.metric->type == core::MetricType::counter &&
         table::labels_agree(*row.metric, row.labels, "device,port,netdev");
}));
static_assert(table::count_summed(kRows) == 0);
static_assert(std::equal(kRows.begin(), kRows.end(), host::genl_ethtool::kCounterNames.begin(),
                         host::genl_ethtool::kCounterNames.end(),
                         [](const CounterRow& row, std::string_view name) { return row.raw == name; }));

constexpr std::array kStandardFamilies{&kNetdevLinkUp,
                                       &kNetdevLinkExtendedState,
                                       &kNetdevSpeed,
                                       &kNetdevMacBytes,
                                       &kNetdevMacFrames,
                                       &kNetdevMacErrors,
                                       &kNetdevRmonErrors,
                                       &kNetdevMacControlFrames,
                                       &kNetdevPauseFrames,
                                       &kNetdevPauseEnabled,
                                       &kNetdevSymbolErrors,
                                       &kNetdevFecInfo,
                                       &kNetdevFecLineRate,
                                       &kNetdevFecCodeword,
                                       &kNetdevFecLimit,
                                       &kNetdevFecBlocks,
                                       &kNetdevFecCorrectedBitErrors,
                                       &kNetdevFecLaneBlocks,
                                       &kNetdevFecLaneCorrectedBitErrors,
                                       &kNetdevLinkDownEvents,
                                       &kNetdevRxRing,
                                       &kNetdevRxRingMax,
                                       &kNetdevTxRing,
                                       &kNetdevTxRingMax,
                                       &kNetdevModuleHighPower,
                                       &kNetdevTemperature,
                                       &kNetdevTemperatureCritical,
                                       &kNetdevRaw};
static_assert(std::all_of(kStandardFamilies.begin(), kStandardFamilies.end(),
                          [](const core::MetricDesc* family) { return core::valid(*family); }));

}  // namespace

std::span<const CounterRow> standard_rows() { return kRows; }

std::span<const core::MetricDesc* const> standard_families() { return kStandardFamilies; }

}  // namespace rdma_exporter::collectors
