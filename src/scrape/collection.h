// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/histogram.h"
#include "core/job.h"
#include "core/sample_batch.h"
#include "scrape/job_report.h"
#include "scrape/job_source.h"
#include "scrape/selection.h"
#include "scrape/slot.h"
#include "task/pool.h"

namespace rdma_exporter::scrape {

/// The state that all collections of one engine share. Owned jointly by the engine and the collections,
/// because a run that is stuck in the kernel outlives its collection and perhaps the engine.
struct Shared {
  Shared(JobSource& job_source, unsigned max_workers, std::size_t max_series_per_device)
      : source(job_source),
        series_per_device(max_series_per_device),
        pool({.max_workers = max_workers, .waits_in_kernel = task::is_asleep}),
        durations(kDurationBounds) {}

  /// Bucket bounds in seconds. A healthy host takes milliseconds; from one second on, something is stuck.
  static constexpr std::array kDurationBounds{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                              0.1,    0.25,  0.5,    1.0,   2.5,  5.0,   10.0};

  JobSource& source;
  const std::size_t series_per_device;
  task::Pool pool;
  core::Histogram durations;  ///< durations of collections

  std::mutex mutex;  ///< guards everything below, and the state of the runs of all collections
  std::shared_ptr<Slot> discovery;
  std::shared_ptr<const PlannedJobs> planned;  ///< the jobs that `slots` was made from
  std::vector<std::shared_ptr<Slot>> slots;
  std::map<const task::Owner*, std::size_t> stuck;  ///< runs that have timed out and not returned
  std::map<std::string, std::weak_ptr<task::Owner>, std::less<>> owners;  ///< by device

  std::map<std::string, std::uint64_t, std::less<>>
      timeouts;  ///< by collector; has an entry for each collector that runs

  /// Returns the owner of a device. A device that is registered again while reads of the old registration are
  /// stuck keeps the same owner.
  std::shared_ptr<task::Owner> owner_of(const core::Job& job);
  /// Whether so many runs of this owner are stuck that another one would not be started.
  bool is_blocked(const task::Owner& owner) const;
  void count_timeout(const core::Job& job);
  void count_stuck(const task::Owner* owner);
  void count_returned(const task::Owner* owner);
};

/// One pass over all jobs: first the discovery of devices, then every job, all on the pool. A stuck run holds
/// only its job and its own samples, but neither the collection nor any other run. Thread-safe.
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
  struct Run {
    Run(Collection& of, std::shared_ptr<Slot> job_of, Outcome admitted,
        std::unique_ptr<core::JobRun> empty = nullptr)
        : shared(of.shared_),
          collection(of.weak_from_this()),
          slot(std::move(job_of)),
          outcome(admitted),
          result(std::move(empty)) {}
    void work();
    void drop(Clock::time_point now);                                       // mutex held
    bool waits() const { return outcome == Outcome::pending && !started; }  // mutex held

    std::shared_ptr<Shared> shared;
    std::weak_ptr<Collection> collection;
    std::shared_ptr<Slot> slot;
    Outcome outcome;
    std::unique_ptr<core::JobRun> result;  ///< null if it was not admitted
    std::optional<Clock::time_point> started;
    std::optional<Clock::time_point> ended;
  };

  using RunPtr = std::shared_ptr<Run>;

  /// Runs of one owner, which one worker executes one after the other: to hand each to the pool costs more
  /// than most of them take. Those that wait for too long behind another one are split off.
  struct Bundle final : task::Work {
    void execute() override;
    std::shared_ptr<task::Owner> owner() const override { return runs.front()->slot->owner(); }
    bool waits() const;                         // mutex held
    bool is_slow(Clock::time_point now) const;  // mutex held

    std::vector<RunPtr> runs;  ///< fixed once it is submitted
    bool split = false;        ///< what waited has bundles of its own
  };
  using Tasks = std::vector<std::shared_ptr<task::Work>>;

  static bool change_runs(Run* ended, Run* next);
  bool change_runs_here(Run* ended, Run* next);
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
  Outcome admit(const Slot& slot, Clock::time_point now) const;               // mutex held
  Tasks admit_wanted();                                                       // mutex held
  Tasks bundled(const std::vector<RunPtr>& runs);                             // mutex held
  void account(Run& run) noexcept;                                            // mutex held
  void limit_series(Run& run);                                                // mutex held
  void submit(const Tasks& tasks);
  bool complete() const { return planned_ && unfinished_ == 0 && !closed_; }  // mutex held
  void announce();

  std::shared_ptr<Shared> shared_;
  const std::uint64_t cycle_;
  Clock::time_point begun_;
  Selection wanted_;
  OnComplete on_complete_;
  RunPtr discovery_;
  std::vector<RunPtr> runs_;  // filled once, by plan()
  std::vector<std::shared_ptr<Bundle>> bundles_;
  std::vector<std::size_t> series_;  ///< series served so far, by Slot::device_number()
  bool planned_ = false;
  std::size_t unfinished_ = 0;
  bool closed_ = false;
  bool announced_ = false;
};

}  // namespace rdma_exporter::scrape
