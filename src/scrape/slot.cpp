// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "scrape/slot.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/labels.h"

namespace rdma_exporter::scrape {
namespace {

using core::MetricDesc;
using core::MetricType;

constexpr MetricDesc kSuccess{"rdma_exporter_collector_success",
                              MetricType::gauge,
                              "collector,device",
                              "",
                              "1 if the collector read this device in time; 0 if it was late, is still "
                              "stuck, backs off or failed as a whole",
                              "src/scrape"};
constexpr MetricDesc kDuration{
    "rdma_exporter_collector_duration_seconds",
    MetricType::gauge,
    "collector,device",
    "seconds",
    "Time the collector took for this device; for a stuck read the time it has been stuck so far",
    "src/scrape"};
constexpr MetricDesc kBusy{
    "rdma_exporter_collector_busy",
    MetricType::gauge,
    "collector,device",
    "",
    "1 while a read of this device by this collector has not returned from the kernel in time, or is not "
    "started because so many reads of this device have not",
    "src/scrape"};
constexpr MetricDesc kTimeouts{
    "rdma_exporter_collector_timeouts_total",
    MetricType::counter,
    "collector,device",
    "collections",
    "Collections that went on without this collector's share of this device because it was late",
    "src/scrape"};
constexpr MetricDesc kReadErrors{
    "rdma_exporter_read_errors_total",
    MetricType::counter,
    "collector,device,reason",
    "reads",
    "Reads that failed although the source exists; reason is the errno name, parse or too_long",
    "src/scrape"};
constexpr MetricDesc kDropped{"rdma_exporter_series_dropped_total",
                              MetricType::counter,
                              "collector,device,reason",
                              "series",
                              "Series left out of a collection by a limit (reason says which)",
                              "src/scrape"};

constexpr std::array kFamilies{&kSuccess, &kDuration, &kBusy, &kTimeouts, &kReadErrors, &kDropped};
static_assert(std::all_of(kFamilies.begin(), kFamilies.end(),
                          [](const MetricDesc* m) { return core::valid(*m); }));

// After this many timeouts in a row a job is no longer tried in every collection.
constexpr unsigned kTimeoutsBeforeBackoff = 3;
constexpr std::chrono::seconds kMaxBackoff{60};

void count(std::map<std::string, std::uint64_t, std::less<>>& totals, const core::JobRun::Counts& counts) {
  for (const auto& [reason, n] : counts) {
    const auto it = totals.find(reason);
    if (it == totals.end()) {
      totals.emplace(reason, n);
    } else {
      it->second += n;
    }
  }
}

}  // namespace

Slot::Slot(PlannedJob planned, std::shared_ptr<Owner> owner)
    : planned_(std::move(planned)),
      owner_(std::move(owner)),
      labels_(core::render_labels(
          {{"collector", planned_.job->collector()}, {"device", planned_.job->device()}})) {}

Outcome Slot::admit(Clock::time_point now) const {
  if (started_) return Outcome::busy;
  return now < not_before_ ? Outcome::back_off : Outcome::pending;
}

void Slot::started(Clock::time_point now) { started_ = now; }

void Slot::ended(Clock::time_point now, bool in_time) {
  started_.reset();
  timeouts_in_a_row_ = in_time ? 0 : timeouts_in_a_row_ + 1;
  if (timeouts_in_a_row_ < kTimeoutsBeforeBackoff) return;
  const unsigned doublings = std::min(timeouts_in_a_row_ - kTimeoutsBeforeBackoff, 6U);
  not_before_ = now + std::min(kMaxBackoff, std::chrono::seconds(1U << doublings));
}

void Slot::fold(const core::JobRun& run) {
  count(read_errors_, run.read_errors());
  count(dropped_, run.dropped());
}

void Slot::inherit(const Slot& earlier) {
  timeouts_ = earlier.timeouts_;
  read_errors_ = earlier.read_errors_;
  dropped_ = earlier.dropped_;
}

core::JobRun Slot::take_run(std::uint64_t cycle) {
  if (!spare_) return core::JobRun(cycle);
  core::JobRun run = std::move(*spare_);
  spare_.reset();
  run.reset(cycle);
  return run;
}

void Slot::give_back(core::JobRun run) {
  run.samples().shrink();
  spare_ = std::move(run);
}

void Slot::report(core::SampleBatch& out, Outcome outcome, bool success,
                  std::chrono::duration<double> duration) const {
  out.add_stable(kSuccess, labels_, std::uint64_t{success});
  out.add_stable(kDuration, labels_, duration.count());
  out.add_stable(kBusy, labels_, std::uint64_t{outcome == Outcome::busy || outcome == Outcome::late});
  out.add_stable(kTimeouts, labels_, timeouts_);
  for (const auto& [metric, totals] :
       {std::pair{&kReadErrors, &read_errors_}, std::pair{&kDropped, &dropped_}}) {
    for (const auto& [reason, n] : *totals) {
      std::string labels = labels_;
      core::append_label(labels, "reason", reason);
      out.add(*metric, labels, n);
    }
  }
}

std::span<const core::MetricDesc* const> slot_families() { return kFamilies; }

}  // namespace rdma_exporter::scrape
