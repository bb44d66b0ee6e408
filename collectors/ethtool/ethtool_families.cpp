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
                               &kPauseSeconds,
                               &kPauseTransitions,
                               &kPauseStormEvents,
                               &kPriorityBytes,
                               &kPriorityPackets,
                               &kPriorityDiscards,
                               &kPriorityEcnMarked,
                               &kNetdevDiscards,
                               &kReceiveBufferThresholdEvents,
                               &kNetdevPcsSymbolErrors,
                               &kLaneBitErrors,
                               &kPcieStalled,
                               &kPcieStallSeconds,
                               &kPcieSignalIntegrityErrors,
                               &kNetdevRaw,
                               &kNetdevRawValue};
static_assert(std::all_of(kFamilies.begin(), kFamilies.end(),
                          [](const core::MetricDesc* family) { return core::valid(*family); }));

}  // namespace

std::span<const core::MetricDesc* const> ethtool_families() { return kFamilies; }

}  // namespace rdma_exporter::collectors
