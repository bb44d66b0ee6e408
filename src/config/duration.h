// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "core/result.h"

namespace rdma_exporter::config {

/// Parses a duration in Prometheus' format: whole numbers with the units y, w, d, h, m, s, ms, each at most
/// once and in descending order ("1m30s"). No sign, fraction or bare number. A year has 365 days.
core::Result<std::chrono::milliseconds> parse_duration(std::string_view text);

/// The reverse, in h, m, s and ms: parse_duration() of it gives `value` again; "0s" for zero. `value` must
/// not be negative.
std::string format_duration(std::chrono::milliseconds value);

}  // namespace rdma_exporter::config
