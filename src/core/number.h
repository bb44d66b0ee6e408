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
/// Writes `value` in decimal, all digits. Returns the end.
char* write_number(char* to, std::uint64_t value);

}  // namespace rdma_exporter::core
