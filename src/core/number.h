// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <string>

namespace rdma_exporter::core {

/// Appends `value` as Go's strconv.ParseFloat reads it, independent of the locale: shortest form that gives the
/// same double again; "NaN", "+Inf", "-Inf".
void append_number(std::string& out, double value);
/// Appends `value` in decimal, all digits.
void append_number(std::string& out, std::uint64_t value);

}  // namespace rdma_exporter::core
