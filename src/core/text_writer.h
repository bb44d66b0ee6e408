// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <span>
#include <string>

#include "core/sample_batch.h"

namespace rdma_exporter::core {

/// Appends the samples of all batches to `out` in Prometheus text format 0.0.4: families contiguous and in the
/// order of `families`, each with HELP and TYPE, families without samples left out. A sample whose metric is
/// not in `families` is left out (the contract tests make sure that there is none).
/// Cost: one pass to bucket, one to print; no allocation per sample.
void write_text(std::span<const MetricDesc* const> families, std::span<const SampleBatch* const> batches,
                std::string& out);

}  // namespace rdma_exporter::core
