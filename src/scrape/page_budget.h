// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include "core/exposition/format.h"

namespace rdma_exporter::scrape {

using PagePtr = std::shared_ptr<const core::Page>;

/// The pages of a process that are in memory, from the time they are printed until the last client has
/// received them. A page that many clients share counts once. Thread-safe.
///
/// No further page is begun while the pages have reached the limit. A page of any size is therefore made if
/// there is no other, and together they exceed the limit by at most one page for each thread that prints.
class PageBudget {
 public:
  /// The limit in bytes.
  static constexpr std::size_t kDefaultLimit = std::size_t{64} << 20U;

  explicit PageBudget(std::size_t limit = kDefaultLimit);
  /// Sets the limit for further pages.
  void set_limit(std::size_t limit) { state_->limit = limit; }

  bool has_room() const { return missing() == 0; }
  /// Bytes of pages that have to go before there is room for another one.
  std::size_t missing() const;
  /// Bytes of the pages that exist.
  std::size_t in_flight() const { return state_->in_flight; }

  /// Returns the page, which counts until nobody has it any longer, even if that is after the end of this
  /// budget.
  PagePtr hold(core::Page page);

 private:
  struct State {
    std::atomic<std::size_t> limit;
    std::atomic<std::size_t> in_flight{0};
  };
  class Held;

  std::shared_ptr<State> state_;
};

}  // namespace rdma_exporter::scrape
