// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "scrape/collection.h"

#include <algorithm>
#include <exception>
#include <span>
#include <utility>

#include "log/caught.h"

namespace rdma_exporter::scrape {
namespace {

// Owners whose jobs one worker executes sooner than another one is awake, as long as none of them is slow.
constexpr std::size_t kForOneWorker = 32;

}  // namespace

Collection::Collection(std::shared_ptr<Shared> shared, std::uint64_t cycle, Selection wanted,
                       OnComplete on_complete)
    : shared_(std::move(shared)),
      cycle_(cycle),
      wanted_(std::move(wanted)),
      on_complete_(std::move(on_complete)) {}

Collection::~Collection() {
  Groups replaced;  // with the jobs of devices that have gone, whose end nobody waits for
  const std::lock_guard lock(shared_->mutex);
  for (GroupPtr& group : groups_) {
    if (group.use_count() > 1)
      group.reset();  // a worker is stuck in it
    else
      group->end();
  }
  replaced = std::exchange(shared_->spare_groups, std::move(groups_));
}

void Collection::start() {
  std::unique_lock lock(shared_->mutex);
  begun_ = Clock::now();
  spare_ = std::exchange(shared_->spare_groups, {});
  groups_.push_back(make_group(0, {&shared_->discovery, 1}));
  Tasks tasks;
  if (admit(discovery(), begun_)) {
    Bundle& bundle = groups_.front()->empty_bundle();
    bundle.runs.push_back(&discovery());
    tasks.emplace_back(groups_.front(), &bundle);
  } else {
    tasks = plan();
  }
  lock.unlock();
  submit(tasks);
}

Collection::GroupPtr Collection::make_group(std::size_t place, RunGroup::Slots slots) {
  const bool fits = place < spare_.size() && spare_[place] && spare_[place]->is_of(slots);
  GroupPtr group = fits ? std::move(spare_[place]) : std::make_shared<RunGroup>(slots, shared_->set);
  group->begin(shared_, weak_from_this());
  return group;
}

// Returns whether it is pending then.
bool Collection::admit(Run& run, Clock::time_point now) const {
  Outcome admitted = run.slot->admit(now);
  if (admitted == Outcome::pending && shared_->is_blocked(*run.slot->owner())) admitted = Outcome::busy;
  if (admitted == Outcome::pending) run.result.reset(cycle_, now);
  run.outcome = admitted;
  return admitted == Outcome::pending;
}

// The slots of an owner follow each other.
Collection::Tasks Collection::plan() {
  Groups groups{groups_.front()};
  groups.reserve(spare_.size());
  const std::span<const std::shared_ptr<Slot>> slots(shared_->slots);
  for (std::size_t first = 0, last = 0; first < slots.size(); first = last) {
    const auto same_owner = [&](std::size_t i) { return slots[i]->owner() == slots[first]->owner(); };
    while (last < slots.size() && same_owner(last)) ++last;
    groups.push_back(make_group(groups.size(), slots.subspan(first, last - first)));
  }
  groups_ = std::move(groups);
  planned_ = true;
  return admit_wanted();
}

Collection::Tasks Collection::admit_wanted() {
  const Clock::time_point now = Clock::now();
  Tasks tasks;
  tasks.reserve(groups_.size());
  std::size_t admitted = 0;
  for (const GroupPtr& group : groups_) {
    Bundle* const bundle = admit_wanted_of(*group, now);
    if (!bundle) continue;
    admitted += bundle->runs.size();
    tasks.emplace_back(group, bundle);
  }
  unfinished_ += admitted;  // last: all else may find no memory
  return tasks;
}

// Null where there is nothing to run.
Bundle* Collection::admit_wanted_of(RunGroup& group, Clock::time_point now) const {
  Bundle* bundle = nullptr;
  for (Run& run : group.runs) {
    if (run.outcome != Outcome::unwanted || !wanted_.has(run.slot->job().collector())) continue;
    if (!bundle) bundle = &group.empty_bundle();
    if (admit(run, now)) bundle->runs.push_back(&run);
  }
  return bundle && !bundle->runs.empty() ? bundle : nullptr;
}

bool Collection::covers(const Selection& wanted) const {
  const std::lock_guard lock(shared_->mutex);
  return wanted_.covers(wanted);
}

bool Collection::join(const Selection& wanted) {
  Tasks tasks;
  {
    const std::lock_guard lock(shared_->mutex);
    if (wanted_.covers(wanted)) return true;
    if (announced_ || closed_) return false;
    wanted_.add(wanted);
    if (planned_) tasks = admit_wanted();
  }
  submit(tasks);
  return true;
}

void Collection::submit(const Tasks& tasks) {
  if (tasks.empty()) return announce();
  shared_->pool.submit(tasks);  // who ends the last of them announces it
}

// Returns whether the next one has begun.
bool Collection::change_runs(Run* ended, Run* next) {
  std::unique_lock lock(shared_->mutex);
  const Clock::time_point now = Clock::now();
  const Tasks tasks = ended ? end(*ended, now) : Tasks{};
  const bool begun = next && begin(*next, now);
  const bool announces = claim_announcement(now);  // here: no other thread may come first
  Groups gone;
  if (planned_) gone.swap(spare_);
  lock.unlock();
  gone.clear();  // before the others run: a job that ends takes back what it told them
  if (!tasks.empty()) {
    const bool few = tasks.size() <= kForOneWorker;
    shared_->pool.submit(tasks, few ? task::Taker::this_worker : task::Taker::another_worker);
  }
  if (announces) on_complete_(shared_from_this());
  return begun;
}

bool Collection::begin(Run& run, Clock::time_point now) {
  // A job whose last run came back late may have been started by a younger collection meanwhile.
  if (closed_ || !run.waits() || run.slot->running_since()) return false;
  run.started = now;
  run.slot->started(now);
  return true;
}

// Returns what is to be submitted then.
Collection::Tasks Collection::end(Run& run, Clock::time_point now) {
  if (run.outcome != Outcome::pending) {
    run.drop(*shared_, now);
    return {};
  }
  run.slot->ended(now, true);
  run.outcome = Outcome::done;
  run.ended = now;
  account(run);
  if (is_discovery(run)) return plan();
  --unfinished_;
  return {};
}

void Collection::account(Run& run) noexcept {
  try {
    limit_series(run);
    run.slot->fold(run.result);
  } catch (const std::exception& error) {
    log::caught("a collector's result was dropped", error);
    run.result.samples().truncate(0);
    run.result.fail();
  }
}

// A device has a share of the page; what its collectors find beyond that is dropped and counted.
void Collection::limit_series(Run& run) {
  const std::size_t device = run.slot->device_number();
  if (device >= series_.size()) series_.resize(device + 1);
  std::size_t& served = series_[device];
  const std::size_t room = shared_->series_per_device - std::min(served, shared_->series_per_device);
  core::SampleBatch& samples = run.result.samples();
  if (samples.size() > room) {
    run.result.count_dropped("series_per_device", samples.size() - room);
    samples.truncate(room);
  }
  served += samples.size();
}

// True for one caller, which has to announce the collection.
bool Collection::claim_announcement(Clock::time_point now) {
  if (!complete() || announced_) return false;
  observe_duration(now);
  announced_ = true;
  return true;
}

void Collection::announce() {
  {
    const std::lock_guard lock(shared_->mutex);
    if (!claim_announcement(Clock::now())) return;
  }
  on_complete_(shared_from_this());
}

void Collection::expire_run(Run& run, Clock::time_point now) {
  if (run.outcome != Outcome::pending || !run.started || now - *run.started < run.slot->timeout()) return;
  shared_->count_stuck(run.slot->owner().get());  // before it is late: it may find no memory
  run.outcome = Outcome::late;
  shared_->count_timeout(run.slot->job());
  if (!is_discovery(run)) --unfinished_;
}

// Gives up runs that would wait until the deadline because too many runs of their owner are stuck.
void Collection::give_up_blocked(const Bundle& bundle) {
  if (!bundle.waits() || !shared_->is_blocked(*bundle.group.owner())) return;
  for (Run* run : bundle.runs) {
    if (!run->waits()) continue;
    run->outcome = Outcome::busy;
    if (!is_discovery(*run)) --unfinished_;
  }
  shared_->pool.withdraw(bundle);
}

// What waits behind a slow run gets workers of its own.
Collection::Tasks Collection::split_slow(Clock::time_point now) {
  Tasks tasks;
  for (const GroupPtr& group : groups_) {
    for (Bundle& bundle : group->bundles) {
      if (!bundle.waits() || !bundle.is_slow(now)) continue;
      for (Run* run : bundle.runs) {
        if (!run->waits()) continue;
        Bundle& part = group->empty_bundle();
        part.runs.push_back(run);
        tasks.emplace_back(group, &part);
      }
      bundle.split = true;  // last: all else may find no memory
    }
  }
  return tasks;
}

void Collection::expire(Clock::time_point now) {
  std::unique_lock lock(shared_->mutex);
  if (groups_.empty() || closed_) return;
  for (const GroupPtr& group : groups_) {
    for (Run& run : group->runs) expire_run(run, now);
    for (const Bundle& bundle : group->bundles) give_up_blocked(bundle);
  }
  const bool given_up = discovery().outcome == Outcome::late || discovery().outcome == Outcome::busy;
  const Tasks tasks = given_up && !planned_ ? plan() : split_slow(now);
  lock.unlock();
  submit(tasks);
}

void Collection::close(Clock::time_point now) {
  const std::lock_guard lock(shared_->mutex);
  if (closed_ || groups_.empty()) return;
  if (!planned_) plan();
  closed_ = true;
  if (!announced_) observe_duration(now);
  for (const GroupPtr& group : groups_) {
    for (const Bundle& bundle : group->bundles)
      if (bundle.waits()) shared_->pool.withdraw(bundle);
    for (Run& run : group->runs) close_run(run, now);
  }
}

void Collection::close_run(Run& run, Clock::time_point now) {
  if (run.outcome != Outcome::pending) return;
  shared_->count_timeout(run.slot->job());
  run.ended = now;
  if (run.started) {
    shared_->count_stuck(run.slot->owner().get());
    run.outcome = Outcome::late;
  }
}

void Collection::gather(const Selection& collectors, std::vector<const core::SampleBatch*>& finished,
                        core::SampleBatch& self, Clock::time_point now) const {
  const std::lock_guard lock(shared_->mutex);
  JobReport jobs(shared_->timeouts);
  for (const GroupPtr& group : groups_) {
    for (const Run& run : group->runs) {
      if (!is_discovery(run)) {
        if (run.outcome == Outcome::unwanted || !collectors.has(run.slot->job().collector())) continue;
        if (run.outcome == Outcome::done) finished.push_back(&run.result.samples());
      }
      report(run, jobs, now);
    }
  }
  jobs.write(self);
}

// For a stuck run the time it has been stuck so far.
Clock::duration Collection::taken(const Run& run, Clock::time_point now) const {
  const auto since = run.outcome == Outcome::busy ? run.slot->running_since() : run.started;
  const auto until = run.outcome == Outcome::done ? *run.ended : now;
  return since ? until - *since : Clock::duration::zero();
}

// The example is the job that took longest: where to look when collections are slow. Nobody waited for one
// that was busy before.
void Collection::observe_duration(Clock::time_point now) {
  const Run* slowest = &discovery();
  Clock::duration longest = taken(*slowest, now);
  for (const GroupPtr& group : groups_) {
    for (const Run& run : group->runs) {
      if (run.outcome == Outcome::busy || taken(run, now) <= longest) continue;
      slowest = &run;
      longest = taken(run, now);
    }
  }
  const std::chrono::duration<double> duration = now - begun_;
  shared_->durations.observe(duration.count(), slowest->slot->labels());
}

void Collection::report(const Run& run, JobReport& jobs, Clock::time_point now) const {
  // Single reads that fail cost their samples; a job of which nothing could be read has failed.
  // What has not ended is still being written to.
  const auto read_something = [](const core::JobRun& result) {
    return !result.samples().said_nothing() || result.read_errors().empty();
  };
  const bool success = run.outcome == Outcome::done && !run.result.failed() && read_something(run.result);
  const bool goes_on = run.outcome == Outcome::pending && run.started;
  jobs.add(*run.slot, goes_on ? Outcome::late : run.outcome, success, taken(run, now));
}

}  // namespace rdma_exporter::scrape
