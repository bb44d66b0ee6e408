// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>

namespace rdma_exporter::app {

/// All metrics, and which kernel counter becomes which, from the tables: docs/METRICS.md.
std::string describe_markdown();

/// The collectors, one row of a table each: docs/CONFIGURATION.md.
std::string collectors_markdown();

/// The metrics and counters for programs: {"metrics": [{"name", "type", "labels": [], "unit", "help",
/// "source", "group"}], "counters": [{"source", "driver", "raw", "metric" (null: raw family), "labels": {},
/// "scale", "divisor", "bits"}]}.
std::string describe_json();

}  // namespace rdma_exporter::app
