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
#include <string>
#include <vector>

#include "core/exposition/format.h"
#include "core/exposition/page_writer.h"
#include "core/sample_batch.h"
#include "scrape/collection.h"
#include "scrape/page_budget.h"
#include "scrape/selection.h"

namespace rdma_exporter::scrape {

/// What a scrape wants from a collection. Scrapes that want the same get the same page.
struct PageRequest {
  core::Format format = core::Format::text;
  bool gzip = false;  ///< may be compressed; small pages are not
  Selection collectors = {};
  bool operator==(const PageRequest&) const = default;
};

/// Prints collections. Thread-safe.
class Printer {
 public:
  /// Adds samples that do not belong to a job: the exporter's own metrics.
  using SelfMetrics = std::function<void(core::SampleBatch&)>;
  /// Receives the batches of each page before it is printed; `whole` tells whether they are those of all
  /// collectors. They are invalid after the call.
  using Observer = std::function<void(const std::vector<const core::SampleBatch*>& batches, bool whole)>;

  /// `families`: see core::PageWriter. `longest` is the maximum size of a page before compression; families
  /// that do not fit are left out, except for the exporter's own. `start_time`: see
  /// core::make_format_writer().
  Printer(const std::vector<const core::MetricDesc*>& families, SelfMetrics self_metrics, std::size_t longest,
          std::optional<double> start_time, Observer observer = {});

  /// Prints what has been collected so far, in the format and for the collectors of `request`.
  std::string print(const Collection& collection, const PageRequest& request);

  /// Number of samples left out of pages because they were too long.
  std::uint64_t left_out() const { return left_out_.load(std::memory_order_relaxed); }

 private:
  const SelfMetrics self_metrics_;
  const Observer observer_;
  const std::size_t longest_;
  std::array<std::unique_ptr<core::FormatWriter>, core::kFormats> formats_;
  std::atomic<std::uint64_t> left_out_{0};
  std::mutex mutex_;
  // Guarded by mutex_.
  core::PageWriter writer_;
  core::PageWriter self_writer_;  ///< a separate writer, because each remembers its last page
  core::SampleBatch self_batch_;
  std::array<std::size_t, core::kFormats> usual_size_{};  ///< space for a page of the size of the last one
};

enum class Compression : bool { forbidden, allowed };

/// The pages of one collection: each form of the page is made once and shared by all scrapes that want it. A
/// form for which the budget has no room, or the process no memory, is refused to all of them. Thread-safe.
class Pages {
 public:
  /// Both arguments outlive this object.
  Pages(Printer& printer, PageBudget& budget) : printer_(printer), budget_(budget) {}

  /// Asks for a form. False if it is too late: make() has begun, and nobody else wanted this form.
  bool want(const PageRequest& request);

  /// Makes the forms that are wanted and neither made nor refused yet.
  void make(const Collection& collection, Compression compression) noexcept;

  /// Returns the page for `request`, for which want() returned true, or null if it was refused. If make() was
  /// not called or has not finished, the page is made now, without compression.
  PagePtr get(const Collection& collection, const PageRequest& request) noexcept;

  /// After this call nothing reads the collection's samples, so that its jobs may run again.
  void close();

 private:
  struct Entry {
    PageRequest request;
    PagePtr page = {};  ///< null: wanted but not made yet
    bool refused = false;
  };

  std::vector<PageRequest> take_missing();
  void print(const Collection& collection, std::vector<PageRequest>& requests, std::vector<PagePtr>& printed);
  PagePtr finish(const PageRequest& request, const PagePtr& printed, Compression compression);
  void settle(const PageRequest& request, const PagePtr& page);
  void refuse_missing();

  Printer& printer_;
  PageBudget& budget_;
  std::mutex printing_;
  bool closed_ = false;  ///< guarded by printing_
  std::mutex mutex_;     ///< never held while printing: the io thread adds requests meanwhile
  bool making_ = false;
  std::vector<Entry> entries_;
};

}  // namespace rdma_exporter::scrape
