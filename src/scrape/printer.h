// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "core/exposition/page.h"
#include "core/exposition/page_writer.h"
#include "core/sample_batch.h"
#include "scrape/collection.h"
#include "scrape/selection.h"

namespace rdma_exporter::scrape {

/// What a scrape wants of a collection. Scrapes that want the same get the same page.
struct PageRequest {
  core::Format format = core::Format::text;
  bool gzip = false;  ///< may be compressed; a small page is not
  Selection collectors = {};
  bool operator==(const PageRequest&) const = default;
};

/// Prints collections. Thread-safe.
class Printer {
 public:
  /// Adds samples that are not a job's: what the exporter says of itself.
  using SelfMetrics = std::function<void(core::SampleBatch&)>;

  /// `families`: see core::PageWriter. `longest`: bytes of a page before compression; families that do not
  /// fit are left out, what the exporter says of itself is not. `start_time`: see core::make_format_writer().
  Printer(const std::vector<const core::MetricDesc*>& families, SelfMetrics self_metrics, std::size_t longest,
          std::optional<double> start_time);

  /// What has been collected by now, in the format and of the collectors that `request` says.
  std::string print(const Collection& collection, const PageRequest& request);

  /// Samples left out of pages because they were too long.
  std::uint64_t left_out() const { return left_out_.load(std::memory_order_relaxed); }

 private:
  const SelfMetrics self_metrics_;
  const std::size_t longest_;
  std::array<std::unique_ptr<core::FormatWriter>, core::kFormats> formats_;
  std::atomic<std::uint64_t> left_out_{0};
  std::mutex mutex_;
  // Guarded by mutex_.
  core::PageWriter writer_;
  core::SampleBatch self_batch_;
  std::array<std::size_t, core::kFormats> usual_size_{};  ///< room for a page like the last one
};

}  // namespace rdma_exporter::scrape
