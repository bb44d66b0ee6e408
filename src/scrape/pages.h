// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/page.h"
#include "scrape/printer.h"

namespace rdma_exporter::scrape {

using PagePtr = std::shared_ptr<const core::Page>;

enum class Compression : bool { forbidden, allowed };

/// The pages of one collection: each form of it is made once and shared by all scrapes that want it.
/// Thread-safe.
class Pages {
 public:
  explicit Pages(Printer& printer) : printer_(printer) {}

  /// False when it is too late: make() has begun, and nobody else wanted this form.
  bool want(const PageRequest& request);

  /// Makes what is wanted and not there yet.
  void make(const Collection& collection, Compression compression);

  /// The page for `request`, for which want() was true; where make() was never called or has not come to its
  /// end it is made now, without compression.
  PagePtr get(const Collection& collection, const PageRequest& request);

  /// From now on nothing reads the collection's samples any more, so that its jobs may run again.
  void close();

 private:
  struct Entry {
    PageRequest request;
    PagePtr page;  ///< null: wanted
  };

  std::vector<PageRequest> take_missing();
  void print(const Collection& collection, std::vector<PageRequest>& requests,
             std::vector<std::string>& bodies);

  Printer& printer_;
  std::mutex printing_;
  bool closed_ = false;  ///< guarded by printing_
  std::mutex mutex_;     ///< never held while printing: the io thread adds requests meanwhile
  bool making_ = false;
  std::vector<Entry> entries_;
};

}  // namespace rdma_exporter::scrape
