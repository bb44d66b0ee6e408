// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/ethtool/ethtool_families.h"

#include <algorithm>
#include <array>

namespace rdma_exporter::collectors {
namespace {

constexpr std::array kFamilies{&kPfcFrames,
                               &kPfcPauseSeconds,
                               &kPfcTransitions,
                               &kPauseFrames,
                               &kPauseSeconds,
                               &kPauseTransitions,
                               &kPauseStormEvents,
                               &kPriorityBytes,
                               &kPriorityPackets,
                               &kPriorityDiscards,
                               &kPriorityEcnMarked,
                               &kNetdevDiscards,
                               &kReceiveBufferThresholdEvents,
                               &kFecCorrectedBitErrors,
                               &kFecBlocks,
                               &kSymbolErrors,
                               &kLaneBitErrors,
                               &kLinkDownEvents,
                               &kVportRdmaBytes,
                               &kVportRdmaPackets,
                               &kPcieStalled,
                               &kPcieStallSeconds,
                               &kPcieSignalIntegrityErrors,
                               &kEthtoolStatistic,
                               &kEthtoolValue};
static_assert(std::all_of(kFamilies.begin(), kFamilies.end(),
                          [](const core::MetricDesc* family) { return core::valid(*family); }));

}  // namespace

std::span<const core::MetricDesc* const> ethtool_families() { return kFamilies; }

}  // namespace rdma_exporter::collectors
