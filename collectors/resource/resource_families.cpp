// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/resource/resource_families.h"

#include <array>

namespace rdma_exporter::collectors {
namespace {

constexpr std::array kResourceFamilies{&kResourceObjects,
                                       &kResourceLimit,
                                       &kOptionalCounters,
                                       &kDetailEnabled,
                                       &kDetailAge,
                                       &kDumpDuration,
                                       &kDumpErrors,
                                       &kDumpTruncated,
                                       &kQps,
                                       &kMrs,
                                       &kMrBytes,
                                       &kCqs,
                                       &kCqEntries,
                                       &kCqUsers,
                                       &kCmIds,
                                       &kSrqs,
                                       &kOwnerQps,
                                       &kOwnerMrs,
                                       &kOwnerMrBytes,
                                       &kOwnerCqs,
                                       &kOwnerContexts,
                                       &kUnattributed,
                                       &kQpStatistic,
                                       &kQpStatisticQps,
                                       &kOdpStatistic};
static_assert(core::all_valid(std::array{kResourceObjects,
                                         kResourceLimit,
                                         kOptionalCounters,
                                         kDetailEnabled,
                                         kDetailAge,
                                         kDumpDuration,
                                         kDumpErrors,
                                         kDumpTruncated,
                                         kQps,
                                         kMrs,
                                         kMrBytes,
                                         kCqs,
                                         kCqEntries,
                                         kCqUsers,
                                         kCmIds,
                                         kSrqs,
                                         kOwnerQps,
                                         kOwnerMrs,
                                         kOwnerMrBytes,
                                         kOwnerCqs,
                                         kOwnerContexts,
                                         kUnattributed,
                                         kQpStatistic,
                                         kQpStatisticQps,
                                         kOdpStatistic}));

}  // namespace

std::span<const core::MetricDesc* const> resource_families() { return kResourceFamilies; }

}  // namespace rdma_exporter::collectors
