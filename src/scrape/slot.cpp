// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "scrape/slot.h"

#include <utility>

#include "core/labels.h"

namespace rdma_exporter::scrape {

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
  started_ = {};
  in_time ? backoff_.succeeded() : backoff_.failed(now);
}

void Slot::fold(const core::JobRun& run) {
  read_errors_.merge(run.read_errors());
  dropped_.merge(run.dropped());
}

void Slot::inherit(const Slot& earlier) {
  read_errors_.merge(earlier.read_errors());
  dropped_.merge(earlier.dropped());
}

}  // namespace rdma_exporter::scrape
