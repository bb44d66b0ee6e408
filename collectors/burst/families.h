// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <span>

#include "core/metric.h"

// The families of the collector `burst`, and the bounds of their classic buckets: at most 12 buckets each,
// including the one without a bound.
namespace rdma_exporter::collectors {

extern const core::MetricDesc kBurstUtilization;
extern const core::MetricDesc kBurstMaxUtilization;
extern const core::MetricDesc kBurstLength;
extern const core::MetricDesc kBurstEcnMarked;
extern const core::MetricDesc kBurstCnp;
extern const core::MetricDesc kBurstReceiveBufferMissing;
extern const core::MetricDesc kBurstPfcPaused;
extern const core::MetricDesc kBurstMaxPfcPaused;
extern const core::MetricDesc kBurstUp;
extern const core::MetricDesc kBurstWindow;
extern const core::MetricDesc kBurstRefresh;
extern const core::MetricDesc kBurstWindows;
extern const core::MetricDesc kBurstRead;

std::span<const core::MetricDesc* const> burst_families();

inline constexpr std::array kBurstShareBounds{0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0};
inline constexpr std::array kBurstPausedBounds{0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.0};
inline constexpr std::array kBurstCountBounds{0.0, 1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6};
inline constexpr std::array kBurstLengthBounds{0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0};
inline constexpr std::array kBurstReadBounds{2e-5, 1e-4, 5e-4, 1e-3, 5e-3, 1e-2, 0.1, 1.0};

}  // namespace rdma_exporter::collectors
