// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "scrape/run_group.h"

#include <algorithm>
#include <exception>
#include <string>

#include "log/caught.h"
#include "log/log.h"
#include "scrape/collection.h"

namespace rdma_exporter::scrape {
namespace {

// A device whose runs take longer is slow or hangs; a healthy one takes a few milliseconds.
constexpr std::chrono::milliseconds kSlow{50};

void log_throw(const core::Job& job, const std::exception& thrown) noexcept {
  try {
    log::error(
        "a collector failed with an exception",
        {{"collector", std::string(job.collector())}, {"device", job.device()}, {"error", thrown.what()}});
  } catch (const std::exception& again) {
    log::caught("a collector failed with an exception", again);
  }
}

}  // namespace

void Run::work() {
  core::Job& job = slot->job();
  try {
    job.run(result);
  } catch (const std::exception& error) {
    result.fail();
    log_throw(job, error);
  }
}

void Run::drop(Shared& shared, Clock::time_point now) {
  slot->ended(now, false);
  if (outcome == Outcome::late) shared.count_returned(slot->owner().get());
  slot->fold(result);  // last, because it may find no memory
}

// Ends a run and begins the next with the mutex taken once.
void Bundle::execute() {
  Run* ended = nullptr;
  for (Run* run : runs) {
    const bool begun = group.change_runs(ended, run);
    ended = begun ? run : nullptr;
    if (begun) run->work();
  }
  if (ended) group.change_runs(ended, nullptr);
}

std::shared_ptr<task::Owner> Bundle::owner() const { return group.owner(); }

bool Bundle::waits() const {
  return !split && std::any_of(runs.begin(), runs.end(), [](const Run* run) { return run->waits(); });
}

bool Bundle::is_slow(Clock::time_point now) const {
  const auto begun = std::find_if(runs.begin(), runs.end(), [](const Run* run) { return run->started; });
  return begun != runs.end() && now - *(*begun)->started >= kSlow;
}

RunGroup::RunGroup(Slots slots, core::MetricSet set) {
  runs.reserve(slots.size());
  for (const auto& slot : slots) runs.emplace_back(slot, set);
}

bool RunGroup::is_of(Slots slots) const {
  return std::equal(runs.begin(), runs.end(), slots.begin(), slots.end(),
                    [](const Run& run, const auto& slot) { return run.slot == slot; });
}

void RunGroup::begin(std::shared_ptr<Shared> of, std::weak_ptr<Collection> part_of) {
  shared = std::move(of);
  collection = std::move(part_of);
  for (Run& run : runs) {
    run.outcome = Outcome::unwanted;
    run.started = {};
    run.ended = {};
  }
  if (bundles.empty()) return;
  bundles.erase(std::next(bundles.begin()), bundles.end());
  bundles.front().runs.clear();
  bundles.front().split = false;
}

void RunGroup::end() {
  for (Run& run : runs) run.result.samples().shrink();
  collection.reset();
  shared.reset();
}

Bundle& RunGroup::empty_bundle() {
  if (!bundles.empty() && bundles.back().runs.empty()) return bundles.back();
  Bundle& bundle = bundles.emplace_back(*this);
  bundle.runs.reserve(runs.size());
  return bundle;
}

bool RunGroup::change_runs(Run* ended, Run* next) {
  if (const auto whole = collection.lock()) return whole->change_runs(ended, next);
  const std::lock_guard lock(shared->mutex);
  if (ended) ended->drop(*shared, Clock::now());
  return false;
}

}  // namespace rdma_exporter::scrape
