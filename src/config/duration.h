// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "core/result.h"

namespace rdma_exporter::config {

/// Reads a duration as Prometheus writes it: whole numbers with the units y, w, d, h, m, s, ms, each at most
/// once and from large to small ("1m30s"). No sign, no fraction, no bare number. A year has 365 days.
core::Result<std::chrono::milliseconds> parse_duration(std::string_view text);

/// The same form, in h, m, s and ms, so that parse_duration() gives `value` again; "0s" for none. Not
/// negative.
std::string format_duration(std::chrono::milliseconds value);

}  // namespace rdma_exporter::config
