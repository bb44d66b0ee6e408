// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/exposition/format.h"
#include "scrape/page_budget.h"
#include "scrape/printer.h"

namespace rdma_exporter::scrape {

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
