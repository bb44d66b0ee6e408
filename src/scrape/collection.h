// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/job.h"
#include "core/sample_batch.h"
#include "scrape/selection.h"
#include "scrape/shared.h"
#include "scrape/slot.h"
#include "scrape/worker_pool.h"

namespace rdma_exporter::scrape {

/// One pass over all jobs: first the discovery of what there is, then every job, all on the pool. A run that
/// is stuck owns its job and its own samples, and neither the collection nor any other run. Thread-safe.
class Collection : public std::enable_shared_from_this<Collection> {
 public:
  /// Runs the jobs of the collectors that `wanted` names. `on_complete` is called once, on any thread, as
  /// soon as every one has ended or is out of its time; never after close(). `cycle` numbers the collections.
  using OnComplete = std::function<void(const std::shared_ptr<Collection>&)>;
  Collection(std::shared_ptr<Shared> shared, std::uint64_t cycle, Selection wanted, OnComplete on_complete);
  ~Collection();
  Collection(const Collection&) = delete;
  Collection& operator=(const Collection&) = delete;

  void start();

  /// Runs the jobs of these collectors, too. False when it is too late for those that are not among the ones
  /// wanted so far.
  bool join(const Selection& wanted);
  /// Whether these collectors are among the ones wanted so far.
  bool covers(const Selection& wanted) const;

  /// Goes on without the jobs that have run longer than their own timeout, and without those that wait behind
  /// them in vain. Call now and then.
  void expire(Clock::time_point now);
  /// Ends the collection: what has not finished is late, what has not started is taken back and never will
  /// be.
  void close(Clock::time_point now);

  /// Adds the batches of these collectors that are finished to `finished` (they live as long as this
  /// collection) and the self metrics of their jobs to `self`.
  void gather(const Selection& collectors, std::vector<const core::SampleBatch*>& finished,
              core::SampleBatch& self, Clock::time_point now) const;

 private:
  struct Run final : Work {
    Run(Collection& of, std::shared_ptr<Slot> job_of, Outcome admitted, core::JobRun empty)
        : shared(of.shared_),
          collection(of.weak_from_this()),
          slot(std::move(job_of)),
          outcome(admitted),
          result(std::move(empty)) {}
    void execute() override;
    void drop(Clock::time_point now);  // mutex held
    std::shared_ptr<Owner> owner() const override { return slot->owner(); }

    std::shared_ptr<Shared> shared;
    std::weak_ptr<Collection> collection;
    std::shared_ptr<Slot> slot;
    Outcome outcome;
    core::JobRun result;
    std::optional<Clock::time_point> started;
    std::optional<Clock::time_point> ended;
  };

  using Tasks = std::vector<std::shared_ptr<Work>>;
  using RunPtr = std::shared_ptr<Run>;

  bool begin(Run& run);
  void end(Run& run);
  void after_discovery();
  Tasks plan();                                                                       // mutex held
  void expire_run(Run& run, Clock::time_point now);                                   // mutex held
  void give_up_blocked(Run& run);                                                     // mutex held
  void close_run(Run& run, Clock::time_point now);                                    // mutex held
  void report(const Run& run, core::SampleBatch& self, Clock::time_point now) const;  // mutex held
  Clock::duration taken(const Run& run, Clock::time_point now) const;                 // mutex held
  void observe_duration(Clock::time_point now);                                       // mutex held
  Outcome admit(const Slot& slot, Clock::time_point now) const;                       // mutex held
  Tasks admit_wanted();                                                               // mutex held
  void account(Run& run) noexcept;                                                    // mutex held
  void limit_series(Run& run);                                                        // mutex held
  void submit(const Tasks& tasks);
  bool complete() const { return planned_ && unfinished_ == 0 && !closed_; }  // mutex held
  void announce();

  std::shared_ptr<Shared> shared_;
  const std::uint64_t cycle_;
  Clock::time_point begun_;
  Selection wanted_;
  OnComplete on_complete_;
  RunPtr discovery_;
  std::vector<RunPtr> runs_;                        // filled once, by plan()
  std::map<std::string_view, std::size_t> series_;  ///< served so far, by device
  bool planned_ = false;
  std::size_t unfinished_ = 0;
  bool closed_ = false;
  bool announced_ = false;
};

}  // namespace rdma_exporter::scrape
