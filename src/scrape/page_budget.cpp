// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "scrape/page_budget.h"

#include <utility>

namespace rdma_exporter::scrape {

class PageBudget::Held {
 public:
  Held(core::Page page, std::shared_ptr<State> state)
      : page_(std::move(page)), bytes_(page_.body.capacity()), state_(std::move(state)) {
    state_->in_flight += bytes_;
  }
  ~Held() { state_->in_flight -= bytes_; }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  const core::Page& page() const { return page_; }

 private:
  const core::Page page_;
  const std::size_t bytes_;
  const std::shared_ptr<State> state_;
};

PageBudget::PageBudget(std::size_t limit) : state_(std::make_shared<State>()) { state_->limit = limit; }

std::size_t PageBudget::missing() const {
  const std::size_t in_flight = state_->in_flight;
  const std::size_t limit = state_->limit;
  return in_flight < limit ? 0 : in_flight - limit + 1;
}

// A part of a page was printed into the room of a whole one.
PagePtr PageBudget::hold(core::Page page) {
  if (page.body.capacity() > page.body.size() + page.body.size() / 4) page.body.shrink_to_fit();
  const auto held = std::make_shared<const Held>(std::move(page), state_);
  return {held, &held->page()};
}

}  // namespace rdma_exporter::scrape
