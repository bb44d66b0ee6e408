// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <cstdint>

namespace rdma_exporter::core {

/// Space that write_number() needs at most.
inline constexpr std::size_t kNumberSize = 32;

/// Writes `value` to `to` as Go's strconv.ParseFloat reads it, independent of the locale: shortest form that
/// gives the same double again; "NaN", "+Inf", "-Inf". Returns the end.
char* write_number(char* to, double value);
/// Writes the bound of a histogram bucket: "0.0001", "1.0", "1e+06", "+Inf". It is a label value, so it has
/// one spelling in every format: the canonical one of OpenMetrics, which Prometheus also makes of protobuf.
/// Returns the end.
char* write_bound(char* to, double value);
/// Writes `value` in decimal, all digits. Returns the end.
char* write_number(char* to, std::uint64_t value);

}  // namespace rdma_exporter::core
