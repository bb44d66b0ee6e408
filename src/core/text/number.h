// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <cstdint>

namespace rdma_exporter::core {

/// Of ASCII, whatever the locale.
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Maximum number of characters that write_number() writes.
inline constexpr std::size_t kNumberSize = 32;

/// Writes `value` to `to` as Go's strconv.ParseFloat reads it, independent of the locale: shortest form that
/// gives the same double again; "NaN", "+Inf", "-Inf". Returns the end.
char* write_number(char* to, double value);
/// Writes the bound of a histogram bucket: "0.0001", "1.0", "1e+06", "+Inf". As a label value it has the same
/// spelling in every format: the canonical one of OpenMetrics, which Prometheus also derives from protobuf.
/// Returns the end.
char* write_bound(char* to, double value);
/// Writes `value` in decimal, all digits. Returns the end.
char* write_number(char* to, std::uint64_t value);

}  // namespace rdma_exporter::core
