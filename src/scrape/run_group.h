// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/job.h"
#include "scrape/shared.h"
#include "scrape/slot.h"
#include "task/pool.h"

namespace rdma_exporter::scrape {

class Collection;

/// A job in one collection. Guarded by Shared::mutex, except for its result while the job runs.
struct Run {
  /// `set`: of the families that are exported.
  Run(std::shared_ptr<Slot> job_of, core::MetricSet set)
      : slot(std::move(job_of)), result(0, Clock::time_point(), set) {}
  /// Executes the job.
  void work();
  /// Takes note that it has returned after its collection went on without it.
  void drop(Shared& shared, Clock::time_point now);
  bool waits() const { return outcome == Outcome::pending && !started; }

  std::shared_ptr<Slot> slot;
  Outcome outcome = Outcome::unwanted;
  Moment started = {};
  Moment ended = {};
  core::JobRun result;
};

/// Runs of one owner, which one worker executes one after the other: to hand each to the pool costs more than
/// most of them take. Those that wait for too long behind another one are split off.
struct Bundle final : task::Work {
  explicit Bundle(RunGroup& part_of) : group(part_of) {}
  void execute() override;
  std::shared_ptr<task::Owner> owner() const override;
  bool waits() const;                         // mutex held
  bool is_slow(Clock::time_point now) const;  // mutex held

  RunGroup& group;
  std::vector<Run*> runs;  ///< fixed once it is submitted
  bool split = false;      ///< what waited has bundles of its own
};

/// The runs of one owner. A worker that is stuck in one of them keeps the group; a group that nobody keeps is
/// used again by the next collection, so that a scrape allocates nothing for its jobs.
struct RunGroup {
  using Slots = std::span<const std::shared_ptr<Slot>>;

  RunGroup(Slots slots, core::MetricSet set);
  RunGroup(const RunGroup&) = delete;
  RunGroup& operator=(const RunGroup&) = delete;

  bool is_of(Slots slots) const;
  /// All runs are unwanted then.
  void begin(std::shared_ptr<Shared> of, std::weak_ptr<Collection> part_of);
  /// Nothing refers to it any more.
  void end();
  /// A bundle without runs.
  Bundle& empty_bundle();
  /// Ends a run and begins the next one; either may be null. Returns whether the next one has begun. Takes
  /// the mutex.
  bool change_runs(Run* ended, Run* next);
  const std::shared_ptr<task::Owner>& owner() const { return runs.front().slot->owner(); }

  std::shared_ptr<Shared> shared;  ///< null between two collections
  std::weak_ptr<Collection>
      collection;         ///< not kept alive while a job runs: who is stuck keeps nothing of it
  std::vector<Run> runs;  ///< at least one
  std::list<Bundle> bundles;
};

}  // namespace rdma_exporter::scrape
