// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "scrape/slot.h"

#include <algorithm>
#include <utility>

#include "core/labels.h"

namespace rdma_exporter::scrape {
namespace {

void count(Slot::Totals& totals, const core::JobRun::Counts& counts) {
  for (const auto& [reason, n] : counts) {
    const auto same = [why = reason](const auto& total) { return total.first == why; };
    const auto it = std::find_if(totals.begin(), totals.end(), same);
    if (it == totals.end()) {
      totals.emplace_back(reason, n);
    } else {
      it->second += n;
    }
  }
}

}  // namespace

Slot::Slot(PlannedJob planned, std::shared_ptr<task::Owner> owner)
    : planned_(std::move(planned)), owner_(std::move(owner)) {}

std::string Slot::labels() const {
  return core::render_labels({{"collector", job().collector()}, {"device", job().device()}});
}

Outcome Slot::admit(Clock::time_point now) const {
  if (started_) return Outcome::busy;
  return backoff_.allows(now) ? Outcome::pending : Outcome::back_off;
}

void Slot::started(Clock::time_point now) { started_ = now; }

void Slot::ended(Clock::time_point now, bool in_time) {
  started_.reset();
  in_time ? backoff_.succeeded() : backoff_.failed(now);
}

void Slot::fold(const core::JobRun& run) {
  count(read_errors_, run.read_errors());
  count(dropped_, run.dropped());
}

void Slot::inherit(const Slot& earlier) {
  read_errors_ = earlier.read_errors_;
  dropped_ = earlier.dropped_;
}

}  // namespace rdma_exporter::scrape
