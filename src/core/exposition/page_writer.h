// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/exposition/format.h"
#include "core/sample_batch.h"

namespace rdma_exporter::core {

/// Writes the samples of many batches family by family: families contiguous and in a fixed order, those
/// without samples left out. Keeps its tables from page to page: nothing is allocated per sample. One thread
/// at a time.
class PageWriter {
 public:
  /// `families`: every family that can occur, in the order of the page. A sample of another one is left out
  /// (the contract tests make sure that there is none).
  explicit PageWriter(std::span<const MetricDesc* const> families);

  /// Appends the samples of all batches to `out`; within a family in the order of the batches. A family with
  /// which `out` would become longer than `longest` is left out as a whole, because a part of one is a wrong
  /// number in every sum. Returns how many samples that were.
  std::size_t write(std::span<const SampleBatch* const> batches, FormatWriter& format, std::string& out,
                    std::size_t longest = std::numeric_limits<std::size_t>::max());

 private:
  void sort_by_family(std::span<const SampleBatch* const> batches);

  std::vector<const MetricDesc*> families_;
  std::unordered_map<const MetricDesc*, std::uint32_t> index_;
  std::vector<std::uint32_t> family_of_;  ///< of each sample in the order of the batches
  std::vector<std::size_t> start_;        ///< where each family's samples begin in sorted_
  std::vector<const Sample*> sorted_;
};

/// One page in text format 0.0.4 with a writer of its own.
void write_text(std::span<const MetricDesc* const> families, std::span<const SampleBatch* const> batches,
                std::string& out);

}  // namespace rdma_exporter::core
