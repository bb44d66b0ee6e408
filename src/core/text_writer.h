// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/sample_batch.h"

namespace rdma_exporter::core {

/// Writes pages in Prometheus text format 0.0.4: families contiguous and in a fixed order, each with HELP and
/// TYPE, families without samples left out. Keeps its tables from page to page: nothing is allocated per
/// sample. One thread at a time.
class TextWriter {
 public:
  /// `families`: every family that can occur, in the order of the page. A sample of another one is left out
  /// (the contract tests make sure that there is none).
  explicit TextWriter(std::span<const MetricDesc* const> families);

  /// Appends the samples of all batches to `out`; within a family in the order of the batches.
  void write(std::span<const SampleBatch* const> batches, std::string& out);

 private:
  void sort_by_family(std::span<const SampleBatch* const> batches);

  std::vector<const MetricDesc*> families_;
  std::unordered_map<const MetricDesc*, std::uint32_t> index_;
  std::vector<std::uint32_t> family_of_;  ///< of each sample in the order of the batches
  std::vector<std::size_t> start_;        ///< where each family's samples begin in sorted_
  std::vector<const Sample*> sorted_;
};

/// One page with a writer of its own.
void write_text(std::span<const MetricDesc* const> families, std::span<const SampleBatch* const> batches,
                std::string& out);

}  // namespace rdma_exporter::core
