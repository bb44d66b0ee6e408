// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/counters/tables/port_families.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

namespace rdma_exporter::collectors {
namespace {

constexpr std::array kCurated{&kPortDataBytes,
                              &kPortPackets,
                              &kPortUnicastPackets,
                              &kPortMulticastPackets,
                              &kPortRequests,
                              &kPortCnpPackets,
                              &kPortCnpIgnored,
                              &kPortEcnMarked,
                              &kPortSlowRestarts,
                              &kPortOutOfSequence,
                              &kPortSequenceNaks,
                              &kPortImpliedNaks,
                              &kPortDuplicateRequests,
                              &kPortAckTimeouts,
                              &kPortRetransmittedPackets,
                              &kPortRetriesExceeded,
                              &kPortRnrNaks,
                              &kPortReceiveBufferMissing,
                              &kPortAccessErrors,
                              &kPortCqeErrors,
                              &kPortCqeFlushErrors,
                              &kPortIcrcErrors,
                              &kPortSymbolErrors,
                              &kPortLinkRecoveries,
                              &kPortLinkDowned,
                              &kPortReceiveErrors,
                              &kPortReceiveRemotePhysicalErrors,
                              &kPortReceiveSwitchRelayErrors,
                              &kPortTransmitDiscards,
                              &kPortConstraintErrors,
                              &kPortLocalLinkIntegrityErrors,
                              &kPortExcessiveBufferOverrunErrors,
                              &kPortVl15Dropped,
                              &kPortTransmitWaitTicks};

constexpr std::array kRaw{&kPortRaw, &kPortRawValue, &kDeviceRaw, &kDeviceRawValue, &kCounterSaturated};

template <typename Families>
constexpr bool each_valid(const Families& families) {
  for (const core::MetricDesc* family : families)
    if (!core::valid(*family)) return false;
  return true;
}
static_assert(each_valid(kCurated) && each_valid(kRaw));

// A raw family must not share its name with a curated one; otherwise it would contain a counter twice.
constexpr bool names_differ() {
  for (std::size_t i = 0; i < kCurated.size(); ++i) {
    for (std::size_t j = i + 1; j < kCurated.size(); ++j)
      if (kCurated[i]->name == kCurated[j]->name) return false;
    for (const core::MetricDesc* raw : kRaw)
      if (kCurated[i]->name == raw->name) return false;
  }
  return true;
}
static_assert(names_differ());

}  // namespace

std::span<const core::MetricDesc* const> curated_port_families() { return kCurated; }

std::vector<const core::MetricDesc*> families_of(std::span<const CounterRow> rows) {
  std::vector<const core::MetricDesc*> families;
  std::copy_if(kCurated.begin(), kCurated.end(), std::back_inserter(families),
               [&](const core::MetricDesc* family) {
                 return std::any_of(rows.begin(), rows.end(),
                                    [&](const CounterRow& row) { return row.metric == family; });
               });
  return families;
}

}  // namespace rdma_exporter::collectors
