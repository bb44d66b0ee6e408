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

/// Writes the samples of many batches grouped by family, with the families in a fixed order and those without
/// samples left out. Its tables are reused from page to page, so that nothing is allocated per sample. Not
/// thread-safe.
class PageWriter {
 public:
  /// `families` lists every family that can occur, in the order of the page. Samples of other families are
  /// left out; the contract tests make sure that there are none. Throws std::length_error for more than
  /// 65,535 families.
  explicit PageWriter(std::span<const MetricDesc* const> families);

  /// Appends the samples of all batches to `out`, within a family in the order of the batches. A family with
  /// which `out` would become longer than `longest` is left out as a whole, because a part of it would make
  /// every sum over it wrong. Returns the number of samples left out.
  std::size_t write(std::span<const SampleBatch* const> batches, FormatWriter& format, std::string& out,
                    std::size_t longest = std::numeric_limits<std::size_t>::max());

 private:
  struct Family {
    const MetricDesc* metric = nullptr;
    const Sample** next = nullptr;  ///< where in sorted_ its next sample goes
  };
  /// The index of a family in families_. There are some hundreds; the constructor refuses what does not fit.
  using Number = std::uint16_t;

  Number look_up(const MetricDesc* metric) const;
  void count(std::span<const SampleBatch* const> batches);
  bool sort_as_counted(std::span<const SampleBatch* const> batches);

  /// In the order of the page. The last one has no metric and stands for all others, which are left out.
  std::vector<Family> families_;
  std::unordered_map<const MetricDesc*, Number> numbers_;
  /// The family of each sample of the last page, in the order of the batches. Mostly the next page has the
  /// same; otherwise most samples are where they were.
  std::vector<Number> places_;
  std::vector<std::size_t> start_;  ///< where each family's samples begin in sorted_, and where the last end
  std::vector<const Sample*> sorted_;
};

/// Writes one page in text format 0.0.4, with a writer of its own.
void write_text(std::span<const MetricDesc* const> families, std::span<const SampleBatch* const> batches,
                std::string& out);

}  // namespace rdma_exporter::core
