// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/sample_batch.h"
#include "scrape/job_report.h"
#include "scrape/run_group.h"
#include "scrape/selection.h"
#include "scrape/shared.h"
#include "scrape/slot.h"
#include "task/pool.h"

namespace rdma_exporter::scrape {

/// One pass over all jobs: first the discovery of devices, then every job, all on the pool. A stuck run holds
/// only the runs of its owner, but neither the collection nor any other run. Thread-safe.
class Collection : public std::enable_shared_from_this<Collection> {
 public:
  /// Runs the jobs of the collectors in `wanted`. `on_complete` is called once, on any thread, as soon as
  /// every job has ended or timed out; never after close(). `cycle` numbers the collections.
  using OnComplete = std::function<void(const std::shared_ptr<Collection>&)>;
  Collection(std::shared_ptr<Shared> shared, std::uint64_t cycle, Selection wanted, OnComplete on_complete);
  ~Collection();
  Collection(const Collection&) = delete;
  Collection& operator=(const Collection&) = delete;

  void start();

  /// Also runs the jobs of these collectors. False if it is too late to add those that are not wanted yet.
  bool join(const Selection& wanted);
  /// Whether these collectors are all wanted already.
  bool covers(const Selection& wanted) const;

  /// Continues without the jobs that have exceeded their own timeout, and without those that wait behind
  /// them. Call it regularly.
  void expire(Clock::time_point now);
  /// Ends the collection: unfinished jobs are late; jobs that have not started are taken back and never
  /// start.
  void close(Clock::time_point now);

  /// Adds the finished batches of these collectors to `finished` (valid as long as this collection) and the
  /// self metrics of their jobs to `self`.
  void gather(const Selection& collectors, std::vector<const core::SampleBatch*>& finished,
              core::SampleBatch& self, Clock::time_point now) const;

 private:
  using GroupPtr = std::shared_ptr<RunGroup>;
  using Groups = std::vector<GroupPtr>;
  using Tasks = std::vector<std::shared_ptr<task::Work>>;

  friend struct RunGroup;
  bool change_runs(Run* ended, Run* next);
  bool begin(Run& run, Clock::time_point now);                                // mutex held
  Tasks end(Run& run, Clock::time_point now);                                 // mutex held
  Tasks plan();                                                               // mutex held
  void expire_run(Run& run, Clock::time_point now);                           // mutex held
  void give_up_blocked(const Bundle& bundle);                                 // mutex held
  Tasks split_slow(Clock::time_point now);                                    // mutex held
  void close_run(Run& run, Clock::time_point now);                            // mutex held
  void report(const Run& run, JobReport& jobs, Clock::time_point now) const;  // mutex held
  Clock::duration taken(const Run& run, Clock::time_point now) const;         // mutex held
  void observe_duration(Clock::time_point now);                               // mutex held
  bool claim_announcement(Clock::time_point now);                             // mutex held
  bool admit(Run& run, Clock::time_point now) const;                          // mutex held
  Tasks admit_wanted();                                                       // mutex held
  Bundle* admit_wanted_of(RunGroup& group, Clock::time_point now) const;      // mutex held
  GroupPtr make_group(std::size_t place, RunGroup::Slots slots);              // mutex held
  void account(Run& run) noexcept;                                            // mutex held
  void limit_series(Run& run);                                                // mutex held
  void submit(const Tasks& tasks);
  bool is_discovery(const Run& run) const { return &run == &discovery(); }
  Run& discovery() const { return groups_.front()->runs.front(); }
  bool complete() const { return planned_ && unfinished_ == 0 && !closed_; }  // mutex held
  void announce();

  std::shared_ptr<Shared> shared_;
  const std::uint64_t cycle_;
  Clock::time_point begun_;
  Selection wanted_;
  OnComplete on_complete_;
  Groups groups_;                    ///< first that of the discovery; plan() adds the others
  Groups spare_;                     ///< of an earlier collection, in the same places; gone where it is used
  std::vector<std::size_t> series_;  ///< series served so far, by Slot::device_number()
  bool planned_ = false;
  std::size_t unfinished_ = 0;
  bool closed_ = false;
  bool announced_ = false;
};

}  // namespace rdma_exporter::scrape
